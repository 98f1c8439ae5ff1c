package dev.isola.link.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * System settings that prevent unprivileged users from creating user namespaces. They explain a
 * failure; only trying shows whether one can be created.
 */
public enum UserNamespaceRestriction {
  DISABLED("user.max_user_namespaces", "0", "15000", "disabled"),
  ROOT_ONLY("kernel.unprivileged_userns_clone", "0", "1", "allowed for root only"),
  APPARMOR("kernel.apparmor_restrict_unprivileged_userns", "1", "0", "restricted by AppArmor"),
  /** Not one of the known settings. */
  UNKNOWN("", "", "", "refused by the kernel or an enclosing container");

  private final String setting;
  private final String restrictedValue;
  private final String allowedValue;
  private final String reason;

  UserNamespaceRestriction(
      String setting, String restrictedValue, String allowedValue, String reason) {
    this.setting = setting;
    this.restrictedValue = restrictedValue;
    this.allowedValue = allowedValue;
    this.reason = reason;
  }

  /** Returns the setting that prevents this user from creating them, given that it fails. */
  public static UserNamespaceRestriction detect() {
    return detect(UserNamespaceRestriction::read);
  }

  /**
   * Returns the setting that prevents a user from creating them.
   *
   * @param read returns the content of a file, empty when it cannot be read
   */
  static UserNamespaceRestriction detect(Function<Path, String> read) {
    for (UserNamespaceRestriction each : values()) {
      Path file = Path.of("/proc/sys", each.setting.replace('.', '/'));
      if (!each.setting.isEmpty() && read.apply(file).strip().equals(each.restrictedValue)) {
        return each;
      }
    }
    return UNKNOWN;
  }

  /** Returns the reason why they are unavailable. */
  public String reason() {
    return setting.isEmpty() ? reason : reason + " (" + setting + "=" + restrictedValue + ")";
  }

  /** Returns what the operator does to allow them. */
  public String remedy() {
    return switch (this) {
      case DISABLED, ROOT_ONLY -> allow();
      case APPARMOR -> allow() + ", or give the program an AppArmor profile with userns";
      case UNKNOWN ->
          "run outside the container, or allow it to create user namespaces (its seccomp profile,"
              + " or --privileged)";
    };
  }

  private String allow() {
    return "allow user namespaces: sysctl -w " + setting + "=" + allowedValue;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return "";
    }
  }
}
