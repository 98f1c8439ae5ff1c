package dev.isola.app.instance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;

/**
 * The connections between agents and servers that the network namespace of this process shows. They
 * also show a server of another container, whose process cannot be seen.
 */
public final class AgentConnections {
  private static final Path TABLE = Path.of("/proc/self/net/unix");
  private static final int STATE = 5;
  private static final int PATH = 7;
  private static final String CONNECTED = "03";

  private AgentConnections() {}

  /** Returns one of these sandboxes whose agent is connected to a server. */
  public static Optional<String> of(Collection<String> sandboxes) {
    return sandboxes.isEmpty()
        ? Optional.empty()
        : table()
            .lines()
            .map(line -> line.split("\\s+", PATH + 1))
            .filter(fields -> fields.length > PATH && fields[STATE].equals(CONNECTED))
            .flatMap(
                fields ->
                    sandboxes.stream()
                        .filter(id -> fields[PATH].contains("/sandboxes/" + id + "/")))
            .findFirst();
  }

  private static String table() {
    try {
      return new String(Files.readAllBytes(TABLE), StandardCharsets.UTF_8);
    } catch (IOException notLinux) {
      return "";
    }
  }
}
