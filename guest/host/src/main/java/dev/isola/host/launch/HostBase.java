package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The host's own root as what a sandbox stands on: programs, libraries and their settings, read
 * only. Files keep the host's owners, who are nobody inside, so only what everybody may read can be
 * read; what is known to hold secrets is covered besides.
 */
final class HostBase {
  private static final Path ROOT = Path.of("/");

  private static final List<String> FOLDERS =
      List.of("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "etc", "nix", "gnu");

  private static final List<String> SECRETS =
      List.of(
          "/etc/shadow",
          "/etc/shadow-",
          "/etc/gshadow",
          "/etc/gshadow-",
          "/etc/security/opasswd",
          "/etc/sudoers",
          "/etc/sudoers.d",
          "/etc/ssh",
          "/etc/ssl/private",
          "/etc/krb5.keytab",
          "/etc/crypttab",
          "/etc/fstab",
          "/etc/machine-id",
          "/etc/docker",
          "/etc/containers",
          "/etc/kubernetes",
          "/etc/rancher",
          "/etc/cni",
          "/etc/letsencrypt",
          "/etc/wireguard",
          "/etc/openvpn",
          "/etc/ipsec.secrets",
          "/etc/netplan",
          "/etc/wpa_supplicant",
          "/etc/NetworkManager/system-connections",
          "/etc/apt/auth.conf",
          "/etc/apt/auth.conf.d",
          "/etc/mysql",
          "/etc/postgresql",
          "/etc/redis",
          "/etc/cloud",
          "/etc/cron.d",
          "/etc/environment");

  private HostBase() {}

  /**
   * Adds the steps.
   *
   * @param hidden folders of the server, covered where they lie in something that is shown
   */
  static void plan(Plan plan, List<Path> hidden) throws IOException {
    for (String name : FOLDERS) {
      Path folder = ROOT.resolve(name);
      if (Files.isSymbolicLink(folder)) {
        plan.step("link", Files.readSymbolicLink(folder).toString(), "/" + name);
      } else if (Files.isDirectory(folder)) {
        plan.step("bind", folder.toString(), "/" + name, "ro", "deep");
        for (Path secret : hidden) {
          if (secret.startsWith(folder)) {
            plan.step("mask", secret.toString());
          }
        }
      }
    }
    for (String secret : SECRETS) {
      if (Files.exists(Path.of(secret))) {
        plan.step("mask", secret);
      }
    }
  }
}
