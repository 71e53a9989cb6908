import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * Counts the matches of SEQ(A+, B) per key with Flink CEP.
 *
 * <p>Arguments: "strict", "filtered" (strict, after events that are neither A nor B were thrown away:
 * skip-till-next-match) or "any"; a file of keys (int32 each) and, behind them all, types (a byte
 * each: 1 is A, 2 is B); the number of cores. Prints the seconds from the first event to the last
 * match, then the count of each key.
 *
 * <p>Generous: events are in memory before the clock starts, time is processing time, so that nothing
 * is buffered or sorted, and matches are counted where they are found instead of being sent on.
 */
public class FlinkTrends {
    /** What Flink moves between its operators. */
    public static class Event {
        public int key;
        public byte type;
    }

    private static int[] keys;
    private static byte[] types;
    private static AtomicLongArray matches;
    private static volatile long started;

    public static void main(String[] arguments) throws Exception {
        String mode = arguments[0];
        read(Path.of(arguments[1]));
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(Integer.parseInt(arguments[2]));
        // One reader, so that the events of a key keep their order.
        DataStream<Event> events =
                environment
                        .fromSequence(0, keys.length - 1)
                        .setParallelism(1)
                        .map(FlinkTrends::event)
                        .returns(Types.POJO(Event.class))
                        .setParallelism(1);
        if (mode.equals("filtered")) {
            events = events.filter(event -> event.type != 0).setParallelism(1);
        }
        CEP.pattern(events.keyBy(event -> event.key), pattern(mode))
                .inProcessingTime()
                .process(new Count())
                .sinkTo(new DiscardingSink<>());
        environment.execute();
        System.out.println((System.nanoTime() - started) / 1e9);
        for (int key = 0; key < matches.length(); key++) {
            System.out.println(matches.get(key));
        }
    }

    private static Pattern<Event, Event> pattern(String mode) {
        SimpleCondition<Event> isA = SimpleCondition.of(event -> event.type == 1);
        SimpleCondition<Event> isB = SimpleCondition.of(event -> event.type == 2);
        Pattern<Event, Event> many = Pattern.<Event>begin("a").where(isA).oneOrMore();
        if (mode.equals("any")) {
            return many.allowCombinations().followedByAny("b").where(isB);
        }
        return many.consecutive().next("b").where(isB);
    }

    private static Event event(long at) {
        if (at == 0) {
            started = System.nanoTime();
        }
        Event event = new Event();
        event.key = keys[(int) at];
        event.type = types[(int) at];
        return event;
    }

    private static void read(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        int count = bytes.remaining() / 5;
        keys = new int[count];
        types = new byte[count];
        bytes.asIntBuffer().get(keys);
        bytes.position(4 * count);
        bytes.get(types);
        int last = 0;
        for (int key : keys) {
            last = Math.max(last, key);
        }
        matches = new AtomicLongArray(last + 1);
    }

    /** All tasks run in this process, so they can count in one place. */
    private static class Count extends PatternProcessFunction<Event, Long> {
        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<Long> out) {
            matches.incrementAndGet(match.get("b").get(0).key);
        }
    }
}
