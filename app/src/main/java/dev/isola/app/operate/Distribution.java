package dev.isola.app.operate;

import java.util.List;
import java.util.Locale;

/** A Linux distribution, with its package names and its install command. */
enum Distribution {
  DEBIAN("apt install", "debian ubuntu"),
  FEDORA("dnf install", "fedora rhel centos"),
  ALPINE("apk add", "alpine"),
  ARCH("pacman -S", "arch"),
  SUSE("zypper install", "suse opensuse"),
  OTHER("install", "");

  private final String command;
  private final String families;

  Distribution(String command, String families) {
    this.command = command;
    this.families = families;
  }

  /** Returns the distribution that {@code os-release} names or resembles. */
  static Distribution of(String osRelease) {
    StringBuilder ids = new StringBuilder();
    for (String line : osRelease.lines().toList()) {
      if (line.startsWith("ID=") || line.startsWith("ID_LIKE=")) {
        ids.append(' ').append(line.substring(line.indexOf('=') + 1).replace("\"", ""));
      }
    }
    List<String> names = List.of(ids.toString().toLowerCase(Locale.ROOT).strip().split("\\s+"));
    for (Distribution packages : values()) {
      if (names.stream().anyMatch(List.of(packages.families.split(" "))::contains)) {
        return packages;
      }
    }
    return OTHER;
  }

  String installCommand(String name) {
    return command + " " + name;
  }
}
