package dev.isola.client;

import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Set;

/** Converts between numeric permission bits and {@link PosixFilePermission}. */
public final class FileModes {
  private static final String ALL = "rwxrwxrwx";
  private static final int FIRST = 0400;

  private FileModes() {}

  public static int of(Set<PosixFilePermission> permissions) {
    String text = PosixFilePermissions.toString(permissions);
    int mode = 0;
    for (int i = 0; i < ALL.length(); i++) {
      mode |= text.charAt(i) == '-' ? 0 : FIRST >> i;
    }
    return mode;
  }

  /** Returns the permissions. Other bits, such as setuid, are dropped. */
  public static Set<PosixFilePermission> permissions(int mode) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < ALL.length(); i++) {
      text.append((mode & (FIRST >> i)) == 0 ? '-' : ALL.charAt(i));
    }
    return PosixFilePermissions.fromString(text.toString());
  }

  /** Returns the mode as the API writes it, such as {@code 0644}. */
  static String octal(int mode) {
    return String.format(Locale.ROOT, "%04o", mode & 07777);
  }
}
