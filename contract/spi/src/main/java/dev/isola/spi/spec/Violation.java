package dev.isola.spi.spec;

/** An invalid field and the reason. */
public record Violation(String field, String problem) {
  @Override
  public String toString() {
    return field + " " + problem;
  }
}
