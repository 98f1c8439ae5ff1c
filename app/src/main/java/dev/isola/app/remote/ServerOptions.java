package dev.isola.app.remote;

import dev.isola.app.cli.UsageException;
import dev.isola.app.remote.Contexts.Context;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options that select the server. Precedence: {@code --server}, {@code --context}, {@code
 * ISOLA_URL}, the context of the last login. {@code ISOLA_API_KEY}, if set, is always the key.
 */
public final class ServerOptions {
  private static final String LOOPBACK = "http://127.0.0.1:7777";

  /** A server and a key for it. */
  public record Server(String url, String key) {
    @Override
    public String toString() {
      return url;
    }
  }

  @Option(
      names = "--server",
      paramLabel = "URL",
      description =
          "URL of the server. Default: $$ISOLA_URL, or the server of the last isola login.")
  @Nullable String url;

  @Option(
      names = "--context",
      paramLabel = "NAME",
      description =
          "Context of the server; see isola contexts. Default: $$ISOLA_CONTEXT, or the current"
              + " one.")
  @Nullable String context;

  /** Returns whether the command line names a server. */
  public boolean isGiven() {
    return url != null || context != null;
  }

  /**
   * Returns the server that an option, {@code ISOLA_URL}, {@code ISOLA_CONTEXT} or a login selects;
   * empty if none does.
   */
  public Optional<Server> resolveIfConfigured(Map<String, String> env) {
    boolean configured =
        url != null
            || context != null
            || value(env, "ISOLA_CONTEXT").isPresent()
            || value(env, "ISOLA_URL").isPresent()
            || Contexts.of(env).current().isPresent();
    return configured ? Optional.of(resolve(env)) : Optional.empty();
  }

  public Server resolve(Map<String, String> env) {
    Contexts contexts = Contexts.of(env);
    Optional<String> key = value(env, "ISOLA_API_KEY");
    Optional<Context> named =
        Optional.ofNullable(context)
            .or(() -> value(env, "ISOLA_CONTEXT"))
            .filter(ignored -> url == null)
            .map(name -> named(contexts, name));
    Optional<String> explicitUrl =
        Optional.ofNullable(url)
            .or(() -> named.isPresent() ? Optional.empty() : value(env, "ISOLA_URL"));
    if (explicitUrl.isPresent()) {
      String serverUrl = explicitUrl.get().strip().replaceAll("/+$", "");
      return new Server(
          serverUrl, key.or(() -> keyOf(contexts, serverUrl)).orElseThrow(() -> noKey(serverUrl)));
    }
    Optional<Context> chosen = named.or(contexts::current);
    if (chosen.isPresent()) {
      return new Server(chosen.get().url(), key.orElse(chosen.get().key()));
    }
    return new Server(LOOPBACK, key.orElseThrow(ServerOptions::noServer));
  }

  private static Optional<String> value(Map<String, String> env, String name) {
    return Optional.ofNullable(env.get(name)).filter(text -> !text.isEmpty());
  }

  private static Context named(Contexts contexts, String name) {
    Context found = contexts.all().get(name);
    if (found == null) {
      throw new UsageException(
          "unknown context '" + name + "'",
          contexts.all().isEmpty()
              ? "add one with isola login URL"
              : "known: " + String.join(", ", contexts.all().keySet()));
    }
    return found;
  }

  private static Optional<String> keyOf(Contexts contexts, String url) {
    return contexts.all().values().stream()
        .filter(entry -> entry.url().equals(url))
        .map(Context::key)
        .findFirst();
  }

  private static SandboxException noKey(String url) {
    return Fault.of(
            ErrorCode.UNAUTHENTICATED,
            "no API key for " + url,
            "run isola login " + url + ", or set ISOLA_API_KEY")
        .exception();
  }

  private static SandboxException noServer() {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "this command needs a server, and none is configured",
            "start one with isola serve, or run isola login URL")
        .exception();
  }
}
