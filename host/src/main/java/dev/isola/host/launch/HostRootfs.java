package dev.isola.host.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The host's own root as what a sandbox stands on: programs, libraries and their settings, read
 * only. Files keep the host's owners, who are nobody inside, so only what everybody may read can be
 * read; of {@code /etc} there is an allow-list. See {@link SubordinateIds} for who is not root.
 */
final class HostRootfs {
  private static final Path ROOT = Path.of("/");

  private static final List<String> FOLDERS =
      List.of("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix", "gnu");

  private HostRootfs() {}

  /**
   * Adds the steps.
   *
   * @param hidden folders of the server, covered where they lie in something that is shown
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
