package dev.isola.app.remote;

import dev.isola.client.ImageInfo;
import dev.isola.client.Isola;
import dev.isola.client.IsolaOptions;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.Secrets;
import dev.isola.client.SnapshotInfo;
import dev.isola.client.TemplateInfo;
import dev.isola.client.VolumeInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Names on a server, for shell completion. Each call has a short timeout and is not repeated.
 *
 * @param url value of {@code --server}
 * @param contextName value of {@code --context}
 */
public record ServerNames(
    Map<String, String> variables, Optional<String> url, Optional<String> contextName) {
  private static final Duration TIMEOUT = Duration.ofMillis(1500);

  /** Returns the names and ids of the sandboxes. */
  public List<String> sandboxes() {
    return query(
        isola -> {
          List<String> names = new ArrayList<>();
          isola
              .list(SandboxFilter.ALL)
              .forEach(
                  sandbox -> {
                    sandbox.name().ifPresent(names::add);
                    names.add(sandbox.id());
                  });
          return names;
        });
  }

  /** Returns the executions of a sandbox, unless that would resume it. */
  public List<String> executions(String reference) {
    return query(
        isola -> {
          Sandbox sandbox = RemoteCommand.sandbox(isola, reference);
          return sandbox.info().state().equals("running")
              ? sandbox.executions().stream().map(one -> one.id()).toList()
              : List.of();
        });
  }

  public List<String> snapshots() {
    return query(isola -> isola.snapshots().list().stream().map(SnapshotInfo::id).toList());
  }

  public List<String> volumes() {
    return query(isola -> isola.volumes().list().stream().map(VolumeInfo::name).toList());
  }

  public List<String> templates() {
    return query(isola -> isola.templates().list().stream().map(TemplateInfo::name).toList());
  }

  public List<String> secrets() {
    return query(isola -> isola.secrets().list().stream().map(Secrets.SecretInfo::name).toList());
  }

  public List<String> images() {
    return query(isola -> isola.images().list().stream().map(ImageInfo::name).toList());
  }

  public List<String> providers() {
    return query(
        isola -> isola.providers().stream().map(one -> String.valueOf(one.get("name"))).toList());
  }

  /** Returns the stored logins. */
  public List<String> contexts() {
    return List.copyOf(Contexts.of(variables).all().keySet());
  }

  /** Returns whether an option, a variable or a login selects a server. */
  public boolean isConfigured() {
    return options().resolveIfConfigured(variables).isPresent();
  }

  private ServerOptions options() {
    ServerOptions options = new ServerOptions();
    options.url = url.orElse(null);
    options.context = contextName.orElse(null);
    return options;
  }

  private List<String> query(Function<Isola, List<String>> names) {
    ServerOptions.Server server = options().resolve(variables);
    try (Isola isola =
        Isola.connect(
            IsolaOptions.of(server.url(), server.key()).withTimeout(TIMEOUT).withAttempts(1))) {
      return names.apply(isola);
    }
  }
}
