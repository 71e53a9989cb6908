-- The busiest half hour of each district.
CREATE MATERIALIZED VIEW busiest AS
SELECT district, max(trips) AS trips, max_by(window_start, trips) AS since
FROM trips
GROUP BY district
