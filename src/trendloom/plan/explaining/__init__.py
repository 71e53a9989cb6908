"""What `explain` tells, from facts to words. Everything here is read off a plan."""
