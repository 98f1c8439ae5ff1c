package dev.isola.spi;

/**
 * Names one Isola installation (one data folder). Every resource at a backend bears it, and nothing
 * that bears another one is ever touched.
 */
public record InstanceId(String value) {
  public InstanceId {
    if (!SandboxId.isValid(value)) {
      throw new IllegalArgumentException(
          "an instance id is 1 to 32 lower-case letters and digits: " + value);
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
