package dev.isola.spi.spec;

/** One field of a spec that is wrong, and why. */
public record Violation(String field, String problem) {
  @Override
  public String toString() {
    return field + " " + problem;
  }
}
