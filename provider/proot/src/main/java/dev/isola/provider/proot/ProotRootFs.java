package dev.isola.provider.proot;

import dev.isola.codec.process.ProgramRun;
import dev.isola.host.image.Image;
import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Root file system of a sandbox: an empty root with the host's programs bound into it, or a copy of
 * an image, with the workspace, a home folder and folders for temporary files. Nothing is mounted;
 * PRoot translates the bound paths.
 *
 * @param image empty to use the host's own programs
 * @param agent the agent's executable on the host
 */
record ProotRootFs(SandboxSpec spec, SandboxFolder folder, Optional<Image> image, Path agent) {
  /** Path of the agent's executable inside the sandbox. */
  static final String AGENT = "/.isola/agent";

  private static final List<String> PROGRAMS =
      List.of("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "etc", "nix", "gnu");

  private static final List<String> KERNEL = List.of("/proc", "/dev", "/sys");

  /** Creates the folders on the host and returns the PRoot arguments for them. */
  List<String> prepare(Duration timeout) throws IOException {
    Path root = folder.path().resolve("root");
    List<String> arguments = new ArrayList<>(List.of("-r", root.toString(), "-w", "/"));
    if (image.isPresent()) {
      copy(image.get().rootfs(), root, timeout);
    } else {
      Files.createDirectory(root);
      for (String name : PROGRAMS) {
        bindHostFolder(name, root, arguments);
      }
    }
    for (String kernel : KERNEL) {
      bind(arguments, Path.of(kernel), kernel);
    }
    bind(arguments, createFolder("tmp", "rwxrwxrwx"), "/tmp");
    bind(arguments, createFolder("vartmp", "rwxrwxrwx"), "/var/tmp");
    bind(arguments, createFolder("home", "rwxr-xr-x"), "/home/user");
    bind(arguments, workspace(), spec.workspaceMount());
    bind(arguments, agent, AGENT);
    return arguments;
  }

  private static void bindHostFolder(String name, Path root, List<String> arguments)
      throws IOException {
    Path host = Path.of("/", name);
    if (Files.isSymbolicLink(host)) {
      Files.createSymbolicLink(root.resolve(name), Files.readSymbolicLink(host));
    } else if (Files.isDirectory(host)) {
      bind(arguments, host, host.toString());
    }
  }

  private Path workspace() throws IOException {
    if (spec.workspacePath().isPresent()) {
      return spec.workspacePath().get();
    }
    return Files.createDirectory(folder.workspace());
  }

  private Path createFolder(String name, String mode) throws IOException {
    Path path = Files.createDirectory(folder.path().resolve(name));
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    return path;
  }

  private static void bind(List<String> arguments, Path host, String inside) throws IOException {
    String colon = host + inside;
    if (colon.indexOf(':') >= 0) {
      throw new IOException("PRoot does not support a colon in a path: " + host + ", " + inside);
    }
    arguments.addAll(List.of("-b", host + ":" + inside + "!"));
  }

  /** PRoot has no layers, so a sandbox writes to its own copy of the image. */
  private static void copy(Path image, Path root, Duration timeout) throws IOException {
    ProgramRun.Result result =
        ProgramRun.of(List.of("cp", "-a", "--reflink=auto", image.toString(), root.toString()))
            .run(timeout);
    if (!result.succeeded()) {
      throw new IOException("the image cannot be copied: cp exited with status " + result.code());
    }
  }
}
