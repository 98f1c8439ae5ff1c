package dev.isola.engine.config;

/**
 * One thing that is wrong. It never repeats the value of a setting that may be secret.
 *
 * @param key empty when the file as a whole is wrong
 */
public record ConfigProblem(ValueOrigin origin, String key, String problem) {
  @Override
  public String toString() {
    return origin.description() + ": " + (key.isEmpty() ? "" : key + " ") + problem;
  }
}
