package dev.isola.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.provider.bubblewrap.BubblewrapProviderFactory;
import dev.isola.spi.Health;
import dev.isola.spi.InstanceId;
import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.testing.program.ProgramResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A server with a small image {@code base}, and the programs that use E2B's SDKs against it. */
public final class E2bSdkFixture implements AutoCloseable {
  static final Path PROGRAMS = Path.of("../testing/e2b").toAbsolutePath().normalize();

  /** Not resolved by every machine; programs that need it use {@code resolver.c}. */
  private static final String DOMAIN = "e2b.localhost";

  private final LiveServer server;
  private final Path data;
  private final Path resolver;

  private E2bSdkFixture(LiveServer server, Path data, Path resolver) {
    this.server = server;
    this.data = data;
    this.resolver = resolver;
  }

  /** Opens the fixture. The test is NOT RUN if bubblewrap does not work. */
  static E2bSdkFixture open(Path data, String... settings)
      throws IOException, InterruptedException {
    unhealthy(data).ifPresent(reason -> abort("NOT RUN: bubblewrap is unhealthy: " + reason));
    String[] all = Arrays.copyOf(settings, settings.length + 1);
    all[settings.length] = "e2b.domain=" + DOMAIN;
    return new E2bSdkFixture(startServer(data, all), data.resolve("data"), compileResolver(data));
  }

  /** Compiles the library that resolves the names of the domain. */
  private static Path compileResolver(Path folder) throws IOException, InterruptedException {
    Path library = folder.resolve("resolver.so");
    String source = PROGRAMS.resolve("resolver.c").toString();
    ProgramResult made =
        ProgramResult.run(
            folder, Map.of(), "cc", "-shared", "-fPIC", "-o", library.toString(), source);
    assertThat(made.code()).as(made.output()).isZero();
    return library;
  }

  /**
   * Starts a server with bubblewrap, the small image {@code base} and the image {@code bare}, which
   * has neither bash nor the user {@code user}.
   *
   * @param data empty folder; the data folder of the server is {@code data} in it
   */
  public static LiveServer startServer(Path data, String... settings)
      throws IOException, InterruptedException {
    Path folder = data.resolve("data");
    importImage(folder, "base", "small-root.sh", data.resolve("root"));
    importImage(folder, "bare", "bare-root.sh", data.resolve("bare-root"));
    return LiveServer.start(folder, new BubblewrapProviderFactory(), settings);
  }

  private static void importImage(Path folder, String name, String script, Path root)
      throws IOException, InterruptedException {
    ProgramResult made =
        ProgramResult.run(
            root.resolveSibling(""),
            Map.of(),
            PROGRAMS.resolve(script).toString(),
            root.toString());
    assertThat(made.code()).as(made.output()).isZero();
    CommandResult imported =
        new CommandLineFixture(folder).call("image", "import", "--local", name, root.toString());
    assertThat(imported.code()).as(imported.err()).isZero();
  }

  /** Returns why bubblewrap does not work here. */
  public static Optional<String> unhealthy(Path data) throws IOException {
    Path folder = Files.createDirectories(data.resolve("probe"));
    ProviderContext context =
        new ProviderContext(new InstanceId("e2b"), folder, InstantSource.system());
    try (Provider provider =
        new BubblewrapProviderFactory().create(new ProviderConfig(Map.of()), context)) {
      return provider.health() instanceof Health.Unhealthy unhealthy
          ? Optional.of(unhealthy.toString())
          : Optional.empty();
    }
  }

  /** Runs a program with the environment variables that point E2B's SDKs to this server. */
  ProgramResult program(Path folder, String... command) throws IOException, InterruptedException {
    Map<String, String> env = new HashMap<>();
    env.put("E2B_API_URL", server.url);
    env.put("E2B_SANDBOX_URL", server.url);
    env.put("E2B_VOLUME_API_URL", server.url);
    env.put("E2B_API_KEY", LiveServer.KEY.replaceFirst("^isk_", "e2b_"));
    env.put("E2B_TEST_DOMAIN", DOMAIN + server.url.substring(server.url.lastIndexOf(':')));
    env.put("E2B_TEST_CA", data.resolve("e2b-tls").resolve(DOMAIN).resolve("ca.pem").toString());
    env.put("E2B_TEST_RESOLVER", resolver.toString());
    return ProgramResult.run(folder, env, command);
  }

  /** The image contains Python only if this machine has it. */
  static void refuseWithoutPythonInTheImage() {
    if (!Files.isExecutable(Path.of("/usr/bin/python3"))) {
      abort("NOT RUN: this machine has no Python of its own for the image");
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
