package dev.isola.app;

import dev.isola.app.cli.CliEnvironment;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.GlobalOptions;
import dev.isola.app.serve.JsonLogLayout;
import dev.isola.app.serve.RunningServer;
import dev.isola.app.serve.ServeLog;
import dev.isola.client.Isola;
import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigResult;
import dev.isola.provider.subprocess.SubprocessProviderFactory;
import dev.isola.spi.provider.ProviderFactory;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A real server in this JVM, on a free port. */
public final class LiveServer implements AutoCloseable {
  static {
    Awaitility.setDefaultTimeout(Duration.ofMinutes(1)); // a machine may be busy
  }

  public static final String KEY = "isk_0123456789abcdef0123456789abcdef";

  public final String url;
  private final RunningServer server;
  private final ByteArrayOutputStream log;

  private LiveServer(String url, RunningServer server, ByteArrayOutputStream log) {
    this.url = url;
    this.server = server;
    this.log = log;
  }

  /** Starts a server with the subprocess provider. */
  public static LiveServer start(Path data) {
    return start(data, new SubprocessProviderFactory(), "floor=process");
  }

  public static LiveServer start(Path data, ProviderFactory provider, String... more) {
    return start(data, List.of(provider), more);
  }

  /** Starts a server whose default provider is the first of {@code providers}. */
  public static LiveServer start(Path data, List<ProviderFactory> providers, String... more) {
    return start(data, providers, null, more);
  }

  /** Starts a server that also reads a configuration file. */
  static LiveServer start(
      Path data, List<ProviderFactory> providers, @Nullable Path file, String... more) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    CliEnvironment host =
        new CliEnvironment(
            InputStream.nullInputStream(),
            out,
            err,
            CliEnvironment.TtyStatus.NONE,
            Map.of("ISOLA_API_KEY", KEY, "ISOLA_DATA", data.toString()),
            List.copyOf(providers));
    List<String> settings = new ArrayList<>(List.of(more));
    settings.addAll(List.of("server.port=0", "provider=" + providers.getFirst().name()));
    Config config =
        switch (new CommandContext(host, new GlobalOptions())
            .configSources(file == null ? null : file.toString(), settings)
            .read()) {
          case ConfigResult.Valid(Config good) -> good;
          case ConfigResult.Invalid(var problems) -> throw new AssertionError(problems);
        };
    InstantSource clock = InstantSource.system();
    RunningServer server =
        RunningServer.open(host, config, clock, new ServeLog(err, clock, new JsonLogLayout()));
    String line = out.toString(StandardCharsets.UTF_8).strip();
    String url = line.substring("Isola listening on ".length()).split(" ", 2)[0];
    return new LiveServer(url, server, err);
  }

  /** Returns the log so far. */
  public String log() {
    return log.toString(StandardCharsets.UTF_8);
  }

  Isola client() {
    return Isola.connect(url, KEY);
  }

  @Override
  public void close() {
    server.close();
  }
}
