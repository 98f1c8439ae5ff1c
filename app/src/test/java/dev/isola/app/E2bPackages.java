package dev.isola.app;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.app.E2bSdkFixture.ProgramResult;
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
 * E2B's published SDKs, downloaded once into the build folder. A test is NOT RUN if they cannot be
 * installed. Test processes that run at the same time install them one after the other.
 */
public final class E2bPackages {
  static final Path NODE = Path.of("target/e2b").toAbsolutePath();
  private static final Path PYTHON = Path.of("target/e2b-python").toAbsolutePath();

  private E2bPackages() {}

  /** Returns a Python interpreter that has the SDK in the pinned version. */
  public static Path python() throws IOException, InterruptedException {
    Path pinned = E2bSdkFixture.PROGRAMS.resolve("python/requirements.txt");
    Path done = PYTHON.resolve("requirements.txt");
    Path interpreter = PYTHON.resolve("bin/python");
    try (FileChannel file = open(PYTHON);
        FileLock lock = file.lock()) {
      if (lock.isValid() && Files.exists(done) && Files.mismatch(done, pinned) < 0) {
        return interpreter;
      }
      try {
        require(PYTHON, "Python", "python3", "-m", "venv", "--clear", PYTHON.toString());
      } catch (IOException e) {
        abort("NOT RUN: there is no python3: " + e.getMessage());
      }
      require(
          PYTHON,
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

  /** Returns a {@code node_modules} folder with the SDK in the locked version. */
  public static Path nodeModules() throws IOException, InterruptedException {
    Path locked = E2bSdkFixture.PROGRAMS.resolve("package-lock.json");
    Path done = NODE.resolve("package-lock.json");
    Path modules = NODE.resolve("node_modules");
    try (FileChannel file = open(NODE);
        FileLock lock = file.lock()) {
      if (lock.isValid()
          && Files.exists(modules.resolve("e2b"))
          && Files.exists(done)
          && Files.mismatch(done, locked) < 0) {
        return modules;
      }
      for (String name : List.of("package.json", "package-lock.json", ".npmrc")) {
        Files.copy(
            E2bSdkFixture.PROGRAMS.resolve(name),
            NODE.resolve(name),
            StandardCopyOption.REPLACE_EXISTING);
      }
      try {
        require(NODE, "the SDK", "npm", "ci", "--no-audit", "--no-fund");
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
    ProgramResult ended = E2bSdkFixture.run(folder, Map.of(), command);
    if (ended.code() != 0) {
      abort("NOT RUN: " + item + " cannot be installed: " + ended.output().strip());
    }
  }
}
