package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The host's root as the base of a sandbox: programs, libraries and their configuration, read-only.
 * Files keep the owners of the host, which are unmapped inside, so only world-readable files are
 * readable; for {@code /etc} there is an allow-list. See {@link SubordinateIds} for servers that do
 * not run as root.
 */
final class HostRootfs {
  private static final Path ROOT = Path.of("/");

  private static final List<String> FOLDERS =
      List.of("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix", "gnu");

  private HostRootfs() {}

  /**
   * Adds the steps that mount the base.
   *
   * @param hidden folders of the server, masked if they are in a mounted folder
   */
  static void plan(LaunchPlan plan, List<Path> hidden) throws IOException {
    for (String name : FOLDERS) {
      Path folder = ROOT.resolve(name);
      if (Files.isSymbolicLink(folder)) {
        plan.step("link", Files.readSymbolicLink(folder).toString(), "/" + name);
      } else if (Files.isDirectory(folder)) {
        plan.step("bind", folder.toString(), "/" + name, "ro", "deep", "public");
        for (Path secret : hidden) {
          if (secret.startsWith(folder)) {
            plan.step("mask", secret.toString());
          }
        }
      }
    }
    new HostEtc(ROOT.resolve("etc")).plan(plan);
  }
}
