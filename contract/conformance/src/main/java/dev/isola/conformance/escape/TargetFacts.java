package dev.isola.conformance.escape;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The output of {@code isola-probe targets}: lines {@code name=value}, then {@code ready}. */
public final class TargetFacts {
  /** The last line. */
  public static final String READY = "ready\n";

  private TargetFacts() {}

  public static Map<String, List<String>> parse(String output) {
    Map<String, List<String>> facts = new HashMap<>();
    for (String line : output.lines().toList()) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        facts.put(line.substring(0, equals), List.of(line.substring(equals + 1)));
      }
    }
    return facts;
  }

  /** Returns the program arguments that create targets with the id of {@code context}. */
  public static List<String> arguments(ProbeContext context, String folder) {
    return List.of(
        "targets",
        context.id(),
        context.mark(),
        "file=" + folder + "/" + context.mark() + "-file",
        "unix=" + folder + "/" + context.mark() + "-server",
        "channel=" + folder + "/" + context.mark() + "-agent");
  }
}
