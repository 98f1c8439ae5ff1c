package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;

/**
 * The allow-list of what a sandbox on the host's root sees of the host's {@code /etc}: what
 * programs need to run. Everything else may contain secrets of services, including services not
 * known here. World-readable files are copied; folders are bound read-only.
 */
final class HostEtc {
  /** Names in {@code /etc}, or glob patterns. */
  private static final List<String> ALLOWED =
      List.of(
          // the loader and the C library
          "ld.so.cache",
          "ld.so.conf",
          "ld.so.conf.d",
          "ld-musl-*.path",
          "gai.conf",
          "host.conf",
          "nsswitch.conf",
          "netconfig",
          "ethertypes",
          "networks",
          "protocols",
          "rpc",
          "services",
          "locale.alias",
          "locale.conf",
          "localtime",
          "timezone",
          "mtab",
          "xattr.conf",
          // identification of the system
          "debian_version",
          "os-release",
          "lsb-release",
          "*-release",
          "static",
          // shells, terminals, editors
          "bash.bashrc",
          "bashrc",
          "bash_completion",
          "bash_completion.d",
          "profile",
          "profile.d",
          "inputrc",
          "login.defs",
          "shells",
          "skel",
          "terminfo",
          "nanorc",
          "vim",
          "vimrc",
          "zsh",
          "zshrc",
          "emacs",
          "manpath.config",
          "groff",
          // alternatives and package defaults
          "alternatives",
          "dpkg",
          "ucf.conf",
          // certificates, but never their keys
          "ca-certificates",
          "ca-certificates.conf",
          "ssl/certs",
          "ssl/cert.pem",
          "ssl/openssl.cnf",
          "pki/ca-trust",
          "pki/tls/certs",
          "pki/tls/cert.pem",
          "pki/tls/openssl.cnf",
          "crypto-policies",
          // languages and their libraries
          "gdb",
          "gss",
          "ghc",
          "java*",
          "jvm*",
          "maven/m2.conf",
          "maven/logging",
          "mono",
          "perl",
          "php",
          "python*",
          "R",
          "sgml",
          "texmf",
          "xml",
          // documents, fonts, graphics
          "fonts",
          "glvnd",
          "ImageMagick-*",
          "magic",
          "magic.mime",
          "mailcap",
          "mime.types",
          "OpenCL",
          "papersize",
          "vulkan",
          "X11",
          "xdg",
          "wgetrc");

  private final Path etc;

  /**
   * @param etc the {@code /etc} of the host or of a test
   */
  HostEtc(Path etc) {
    this.etc = etc;
  }

  /** Adds the steps that provide the allowed files in the sandbox's {@code /etc}. */
  void plan(LaunchPlan plan) throws IOException {
    plan.step("folder", "/etc", "755", "0", "0");
    for (String allowed : ALLOWED) {
      if (allowed.indexOf('*') < 0) {
        show(plan, allowed);
      }
    }
    if (!Files.isDirectory(etc)) {
      return;
    }
    for (String pattern : ALLOWED) {
      if (pattern.indexOf('*') >= 0) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(etc, pattern)) {
          for (Path path : found) {
            show(plan, etc.relativize(path).toString());
          }
        }
      }
    }
  }

  private void show(LaunchPlan plan, String name) throws IOException {
    if (plan.hasDestination("/etc/" + name)) {
      return; // matched by two patterns
    }
    Path path = etc.resolve(name);
    String inside = "/etc/" + name;
    if (Files.isSymbolicLink(path)) {
      plan.step("link", Files.readSymbolicLink(path).toString(), inside);
    } else if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      if (isWorldReadable(path)) {
        plan.step("bind", path.toString(), inside, "ro", "deep", "public");
      }
    } else if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) && isWorldReadable(path)) {
      plan.step("copy", path.toString(), inside);
    }
  }

  private static boolean isWorldReadable(Path path) throws IOException {
    return Files.readAttributes(path, PosixFileAttributes.class)
        .permissions()
        .contains(PosixFilePermission.OTHERS_READ);
  }
}
