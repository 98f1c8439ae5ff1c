package dev.isola.client;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An execution as listed by the server.
 *
 * @param onTerminal whether it runs on a terminal, so that {@link Sandbox#attach} applies
 * @param firstOffset offset of the oldest retained output
 * @param endOffset current end of the output
 * @param document complete JSON object of the server
 */
public record ExecutionInfo(
    String id,
    long pid,
    List<String> argv,
    Instant startedAt,
    boolean running,
    boolean onTerminal,
    long firstOffset,
    long endOffset,
    Optional<Exit> exit,
    Map<String, Object> document) {

  static ExecutionInfo read(JsonFields fields) {
    return new ExecutionInfo(
        fields.text("id"),
        fields.integer("pid"),
        fields.strings("argv"),
        fields.time("startedAt"),
        fields.flag("running"),
        fields.all().containsKey("terminal"),
        fields.integer("firstOffset"),
        fields.integer("endOffset"),
        fields.all().containsKey("exit")
            ? Optional.of(Exit.read(fields.object("exit").all()))
            : Optional.empty(),
        fields.all());
  }
}
