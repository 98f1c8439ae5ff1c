package dev.isola.tests;

/**
 * A statement of test code that depends on passing time or on a fixed port.
 *
 * @param member the class and the method or field, {@code dev.isola.app.ServeTest.start}
 * @param line the line in its file
 * @param rule the violated rule
 * @param code the expression
 */
record Finding(String member, long line, Rule rule, String code) {
  @Override
  public String toString() {
    return "%s (line %d): \"%s\" %s".formatted(member, line, code, rule.message());
  }
}
