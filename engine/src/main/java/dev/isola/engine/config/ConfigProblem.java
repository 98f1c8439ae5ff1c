package dev.isola.engine.config;

/**
 * A problem in the configuration. It never repeats a value that may be secret.
 *
 * @param key empty if the problem concerns the whole file
 */
public record ConfigProblem(ValueOrigin origin, String key, String problem) {
  @Override
  public String toString() {
    return origin.description() + ": " + (key.isEmpty() ? "" : key + " ") + problem;
  }
}
