package dev.isola.spi.spec;

/**
 * Something mounted into a sandbox.
 *
 * @param source the host's path for {@link Type#BIND}, a name for {@link Type#VOLUME}, empty for
 *     {@link Type#TMPFS}
 * @param destination absolute path inside the sandbox
 */
public record Volume(Type type, String source, String destination, boolean readOnly) {
  public enum Type {
    BIND,
    VOLUME,
    TMPFS
  }

  public static Volume bind(String source, String destination, boolean readOnly) {
    return new Volume(Type.BIND, source, destination, readOnly);
  }
}
