package dev.isola.provider.docker;

import dev.isola.codec.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The progress of an image pull, as reported by the engine line by line. */
final class PullProgress {
  private static final int MAX_LINE = 64 * 1024;
  private static final int MAX_LAYERS = 1000;
  private static final Set<String> COMPLETE = Set.of("Pull complete", "Already exists");

  private final Map<String, Boolean> layers = new ConcurrentHashMap<>();
  private volatile String problem = "";

  /** Reads the report up to its end. */
  void read(InputStream in) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    StringBuilder line = new StringBuilder();
    for (int c = lines.read(); c >= 0; c = lines.read()) {
      if (c != '\n' && c != '\r') {
        if (line.length() == MAX_LINE) {
          throw new IOException("a line of the progress is longer than " + MAX_LINE);
        }
        line.append((char) c);
      } else {
        take(line);
        line.setLength(0);
      }
    }
    take(line);
  }

  private void take(CharSequence line) throws IOException {
    if (line.isEmpty()) {
      return;
    }
    JsonValue said = JsonValue.parse(line.toString().getBytes(StandardCharsets.UTF_8));
    String error = said.text("error");
    if (!error.isEmpty()) {
      problem = error;
    }
    String layer = said.text("id");
    if (!layer.isEmpty() && (layers.containsKey(layer) || layers.size() < MAX_LAYERS)) {
      layers.merge(layer, COMPLETE.contains(said.text("status")), Boolean::logicalOr);
    }
  }

  /** Returns why the pull failed; empty if no failure was reported. */
  String problem() {
    return problem;
  }

  @Override
  public String toString() {
    long here = layers.values().stream().filter(done -> done).count();
    return here + " of the " + layers.size() + " reported layers are complete";
  }
}
