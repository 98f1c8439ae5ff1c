package dev.isola.host.network;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * IP forwarding of the host. If it is enabled for all interfaces, nothing changes. Otherwise it is
 * enabled on the host's interfaces as long as there are sandboxes, and an nftables table shared by
 * all installations keeps the host from becoming a router: on these interfaces only replies to
 * sandboxes, established connections and destination NAT are forwarded. The table also records the
 * interfaces that were changed; like the setting itself it does not survive a reboot.
 *
 * <p>Callers hold {@link HostLock}.
 */
final class IpForwarding {
  private static final Path SETTINGS = Path.of("/proc/sys/net/ipv4/conf");
  private static final String TABLE = "inet isola-forwarding";
  private static final NetworkProgram NFT = NetworkProgram.of("nft");
  private static final Pattern QUOTED = Pattern.compile("\"([^\"]+)\"");

  private IpForwarding() {}

  /** Reports whether the setting can be changed; in many containers it cannot. */
  static boolean isWritable() {
    return Files.isWritable(setting("all"));
  }

  static void enable() throws IOException {
    if (isOn("all")) {
      return;
    }
    List<String> disabled = new ArrayList<>();
    try (DirectoryStream<Path> interfaces = Files.newDirectoryStream(SETTINGS)) {
      for (Path entry : interfaces) {
        String name = entry.getFileName().toString();
        if (!List.of("all", "default", "lo").contains(name)
            && !name.startsWith(VethLink.PREFIX)
            && !isOn(name)) {
          disabled.add(name);
        }
      }
    }
    if (disabled.isEmpty()) {
      return;
    }
    NFT.run(guardRules(disabled), "-f", "-");
    for (String name : disabled) {
      set(name, true);
    }
  }

  /** Reverts {@link #enable}, unless the operator has enabled forwarding in the meantime. */
  static void disable() throws IOException {
    if (!NFT.run("", "list", "tables").contains("table " + TABLE + "\n")) {
      return;
    }
    if (!isOn("all")) {
      String opened = NFT.run("", "list", "set", "inet", "isola-forwarding", "opened");
      for (MatchResult name : QUOTED.matcher(opened).results().toList()) {
        set(name.group(1), false);
      }
    }
    NFT.run("add table %1$s\ndelete table %1$s\n".formatted(TABLE), "-f", "-");
  }

  private static String guardRules(List<String> opened) {
    return """
    add table %1$s
    add set %1$s opened { type ifname; }
    add chain %1$s guard { type filter hook forward priority filter - 20; policy accept; }
    flush chain %1$s guard
    add rule %1$s guard iifname != @opened accept
    add rule %1$s guard oifname "%2$s*" accept
    add rule %1$s guard ct state established,related accept
    add rule %1$s guard ct status dnat accept
    add rule %1$s guard drop
    add element %1$s opened { %3$s }
    """
        .formatted(TABLE, VethLink.PREFIX, "\"" + String.join("\", \"", opened) + "\"");
  }

  private static boolean isOn(String name) throws IOException {
    try {
      return Files.readString(setting(name), StandardCharsets.US_ASCII).strip().equals("1");
    } catch (NoSuchFileException gone) {
      return true;
    }
  }

  private static void set(String name, boolean on) throws IOException {
    try {
      Files.writeString(setting(name), on ? "1" : "0");
    } catch (NoSuchFileException gone) {
      // The interface has disappeared.
    }
  }

  private static Path setting(String name) {
    return SETTINGS.resolve(name).resolve("forwarding");
  }
}
