package dev.isola.testing.program;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/**
 * Published SDKs of others, downloaded once into the build folder. A test is NOT RUN if they cannot
 * be installed. Test processes that run at the same time install them one after the other.
 */
public final class ClientPackages {
  private ClientPackages() {}

  /**
   * Returns a Python interpreter with packages.
   *
   * @param pinned the packages with their versions
   * @param folder in the build folder
   */
  public static Path python(Path pinned, Path folder) throws IOException, InterruptedException {
    Path done = folder.resolve("requirements.txt");
    Path interpreter = folder.resolve("bin/python");
    try (FileChannel file = open(folder);
        FileLock lock = file.lock()) {
      if (lock.isValid() && Files.exists(done) && Files.mismatch(done, pinned) < 0) {
        return interpreter;
      }
      try {
        require(folder, "Python", "python3", "-m", "venv", "--clear", folder.toString());
      } catch (IOException e) {
        abort("NOT RUN: there is no python3: " + e.getMessage());
      }
      require(
          folder,
          "the SDK",
          interpreter.toString(),
          "-m",
          "pip",
          "install",
          "-q",
          "-r",
          pinned.toString());
      Files.copy(pinned, done, StandardCopyOption.REPLACE_EXISTING);
      return interpreter;
    }
  }

  /**
   * Returns a {@code node_modules} folder with packages in their locked versions.
   *
   * @param programs the folder with {@code package.json} and its lock file
   * @param folder in the build folder
   */
  public static Path nodeModules(Path programs, Path folder)
      throws IOException, InterruptedException {
    Path locked = programs.resolve("package-lock.json");
    Path done = folder.resolve("package-lock.json");
    Path modules = folder.resolve("node_modules");
    try (FileChannel file = open(folder);
        FileLock lock = file.lock()) {
      if (lock.isValid()
          && Files.exists(modules.resolve(".package-lock.json"))
          && Files.exists(done)
          && Files.mismatch(done, locked) < 0) {
        return modules;
      }
      for (String name : List.of("package.json", "package-lock.json", ".npmrc")) {
        Files.copy(
            programs.resolve(name), folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
      }
      try {
        require(folder, "the SDK", "npm", "ci", "--no-audit", "--no-fund");
      } catch (IOException e) {
        abort("NOT RUN: there is no npm: " + e.getMessage());
      }
      return modules;
    }
  }

  private static FileChannel open(Path folder) throws IOException {
    Files.createDirectories(folder);
    return FileChannel.open(
        folder.resolveSibling(folder.getFileName() + ".lock"),
        StandardOpenOption.CREATE,
        StandardOpenOption.WRITE);
  }

  private static void require(Path folder, String item, String... command)
      throws IOException, InterruptedException {
    ProgramResult ended = ProgramResult.run(folder, Map.of(), command);
    if (ended.code() != 0) {
      abort("NOT RUN: " + item + " cannot be installed: " + ended.output().strip());
    }
  }
}
