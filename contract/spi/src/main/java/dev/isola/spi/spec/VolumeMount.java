package dev.isola.spi.spec;

import java.util.regex.Pattern;

/**
 * A mount in a sandbox.
 *
 * @param source a host path for {@link Type#BIND}, a volume name for {@link Type#VOLUME}, empty for
 *     {@link Type#TMPFS}
 * @param destination an absolute path inside the sandbox
 */
public record VolumeMount(Type type, String source, String destination, boolean readOnly) {
  public enum Type {
    BIND,
    VOLUME,
    TMPFS
  }

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}");

  /**
   * Returns whether {@code text} is a valid volume name: at most 128 letters, digits and {@code . _
   * -}, starting with a letter or digit.
   */
  public static boolean isValidName(String text) {
    return NAME.matcher(text).matches();
  }

  public static VolumeMount bind(String source, String destination, boolean readOnly) {
    return new VolumeMount(Type.BIND, source, destination, readOnly);
  }
}
