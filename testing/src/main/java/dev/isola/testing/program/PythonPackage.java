package dev.isola.testing.program;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The Python SDK, built as a wheel and installed into a fresh virtual environment whenever its
 * sources have changed. A test is NOT RUN if Python, its module venv or the package registry is
 * missing; a wheel that cannot be built fails the test.
 */
public final class PythonPackage {
  public static final Path SOURCES = RepositoryRoot.resolve("client/python");
  private static final Path BUILD = RepositoryRoot.resolve("packaging/build-python");
  public static final Path ENVIRONMENT = RepositoryRoot.resolve("target/isola-python");
  private static final Path INTERPRETER = ENVIRONMENT.resolve("bin/python");

  private PythonPackage() {}

  /** Returns a Python interpreter that has the SDK, with terminals. */
  public static Path interpreter() throws IOException, InterruptedException {
    Files.createDirectories(ENVIRONMENT.getParent());
    Path done = ENVIRONMENT.resolve("sources.sha256");
    try (FileChannel file =
            FileChannel.open(
                ENVIRONMENT.resolveSibling("isola-python.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      String digest = digest();
      if (!lock.isValid() || !Files.exists(done) || !Files.readString(done).equals(digest)) {
        install();
        Files.writeString(done, digest);
      }
      return INTERPRETER;
    }
  }

  private static void install() throws IOException, InterruptedException {
    try {
      require("Python", "python3", "-m", "venv", "--clear", ENVIRONMENT.toString());
    } catch (IOException e) {
      abort("NOT RUN: there is no python3: " + e.getMessage());
    }
    require("the packages of the SDK", pip("flit_core", "mypy", "httpx", "websockets"));
    String wheel = build(ENVIRONMENT.resolve("wheels")).getFirst().toString();
    ProgramResult installed =
        ProgramResult.run(ENVIRONMENT, Map.of(), pip("--no-index", wheel + "[terminals]"));
    if (installed.code() != 0) {
      throw new AssertionError("the wheel cannot be installed: " + installed.output());
    }
  }

  /** Builds the wheel and the source archive into a folder, and returns them in this order. */
  public static List<Path> build(Path to) throws IOException, InterruptedException {
    ProgramResult built =
        ProgramResult.run(
            SOURCES, Map.of("PYTHON", INTERPRETER.toString()), BUILD.toString(), to.toString());
    if (built.code() != 0) {
      throw new AssertionError("the wheel cannot be built: " + built.output());
    }
    return built.output().lines().map(Path::of).toList();
  }

  private static String[] pip(String... arguments) {
    List<String> fixed =
        List.of(
            INTERPRETER.toString(),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-c",
            SOURCES.resolve("tests/constraints.txt").toString());
    return Stream.concat(fixed.stream(), Stream.of(arguments)).toArray(String[]::new);
  }

  private static void require(String item, String... command)
      throws IOException, InterruptedException {
    Files.createDirectories(ENVIRONMENT);
    ProgramResult ended = ProgramResult.run(ENVIRONMENT, Map.of(), command);
    if (ended.code() != 0) {
      abort("NOT RUN: " + item + " cannot be installed: " + ended.output().strip());
    }
  }

  /** Returns a digest of everything that the wheel and its environment are made from. */
  private static String digest() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(Files.readAllBytes(BUILD));
      for (Path file : files.filter(PythonPackage::isSource).sorted().toList()) {
        digest.update(SOURCES.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
        digest.update(Files.readAllBytes(file));
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isSource(Path file) {
    String name = SOURCES.relativize(file).toString();
    return Files.isRegularFile(file)
        && !name.contains("__pycache__")
        && (name.startsWith("src/")
            || name.equals("pyproject.toml")
            || name.equals("README.md")
            || name.equals("tests/constraints.txt"));
  }
}
