package dev.isola.spi.exec;

/** Identifies an execution within its sandbox. Ids are never reused. */
public record ExecutionId(String value) {
  public ExecutionId {
    if (value.isEmpty() || value.length() > 64 || !value.chars().allMatch(ExecutionId::allowed)) {
      throw new IllegalArgumentException("not an execution id: " + value);
    }
  }

  private static boolean allowed(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '-'
        || c == '_';
  }

  @Override
  public String toString() {
    return value;
  }
}
