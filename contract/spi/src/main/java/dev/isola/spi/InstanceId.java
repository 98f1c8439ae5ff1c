package dev.isola.spi;

/**
 * Identifies one Isola installation, that is, one data folder. A provider labels every backend
 * resource with this id and never touches a resource that carries a different one.
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
