package dev.isola.engine.snapshot;

import dev.isola.codec.json.Json;
import dev.isola.document.SpecDocument;
import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.ProviderPreference;
import dev.isola.engine.api.SandboxRequest;
import dev.isola.engine.api.SnapshotImageName;
import dev.isola.engine.api.Startup;
import dev.isola.snapshot.manifest.Snapshot;
import dev.isola.snapshot.manifest.Snapshot.ProcessSource;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.SandboxSpec;
import dev.isola.spi.spec.SpecValidation;
import dev.isola.spi.spec.Violation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Completes a request whose image is a snapshot of memory: its processes can only continue at the
 * same provider, in a sandbox with the same spec. The request chooses the id, name, tags, timeouts
 * and additional environment variables.
 */
public record MemorySnapshotResolver(LazySnapshotStore store) {
  /** A field of the document that the sandbox inherits. */
  private record Inherited(String name, Function<SandboxSpec, Object> value) {}

  private static final List<Inherited> INHERITED =
      List.of(
          new Inherited("cwd", SandboxSpec::cwd),
          new Inherited("user", SandboxSpec::user),
          new Inherited("workspacePath", SandboxSpec::workspacePath),
          new Inherited("workspaceMount", SandboxSpec::workspaceMount),
          new Inherited("volumes", SandboxSpec::volumes),
          new Inherited("startupTimeoutMs", SandboxSpec::startupTimeout),
          new Inherited("lingerSeconds", SandboxSpec::linger),
          new Inherited("resources", SandboxSpec::limits),
          new Inherited("network", SandboxSpec::network),
          new Inherited("gpus", SandboxSpec::gpus));

  /**
   * Returns the request with the spec and the provider of the snapshot; the request itself if its
   * image is not a snapshot of memory.
   *
   * @throws dev.isola.spi.error.InvalidRequest naming every field that requests something else
   * @throws dev.isola.spi.error.NotFound if there is no such snapshot
   */
  public SandboxRequest resolve(SandboxRequest request) {
    return snapshot(request.request().spec())
        .map(snapshot -> resolve(request, snapshot))
        .orElse(request);
  }

  /** Returns the only provider that can create a sandbox with this image; empty if any may. */
  public Optional<String> requiredProvider(SandboxSpec spec) {
    return snapshot(spec).map(Snapshot::provider);
  }

  private Optional<Snapshot> snapshot(SandboxSpec spec) {
    return SnapshotImages.id(spec).map(id -> store.get().get(id)).filter(SnapshotImages::isMemory);
  }

  private static SandboxRequest resolve(SandboxRequest request, Snapshot snapshot) {
    ProcessSource source = snapshot.source().orElseThrow(() -> withoutSource(snapshot));
    CreateRequest requested = request.request();
    SandboxSpec spec = requested.spec();
    SandboxSpec original = SpecDocument.fromMap(Json.parseObject(source.spec()), spec::id).spec();
    List<Violation> violations = new ArrayList<>(differences(spec, original));
    violations.addAll(additions(request));
    if (requested.placement().provider() instanceof ProviderPreference.Named(String named)
        && !named.equals(snapshot.provider())) {
      violations.add(
          new Violation(
              "provider",
              "must be "
                  + snapshot.provider()
                  + " or auto: only that provider can continue the processes of snapshot "
                  + snapshot.id()));
    }
    SpecValidation.throwIfInvalid(violations);
    SandboxSpec.Builder complete =
        original.toBuilder()
            .image(SnapshotImageName.of(snapshot.id()))
            .env(spec.env())
            .secretEnv(spec.secretEnv());
    return request
        .withRequest(requested.with(complete.build()).withProvider(snapshot.provider()).strict())
        .withLabels(labels(request, source))
        .withStartup(Startup.NONE)
        .withFixedId();
  }

  private static List<Violation> differences(SandboxSpec spec, SandboxSpec original) {
    SandboxSpec defaults = SandboxSpec.builder(spec.id()).build();
    List<Violation> violations = new ArrayList<>();
    for (Inherited field : INHERITED) {
      Object given = field.value().apply(spec);
      if (!given.equals(field.value().apply(defaults))
          && !given.equals(field.value().apply(original))) {
        violations.add(
            new Violation(
                field.name(),
                "cannot differ from the sandbox of the snapshot, whose processes continue:"
                    + " leave it out"));
      }
    }
    return violations;
  }

  private static List<Violation> additions(SandboxRequest request) {
    SandboxSpec spec = request.request().spec();
    List<Violation> violations = new ArrayList<>();
    String problem = "cannot be combined with a snapshot of memory, whose processes continue";
    if (!spec.seedFiles().isEmpty()) {
      violations.add(new Violation("seedFiles", problem));
    }
    if (spec.init().isPresent()) {
      violations.add(new Violation("init", problem));
    }
    if (request.startup().hasCommands()) {
      violations.add(new Violation("startup", problem));
    }
    if (spec.image().filter(SnapshotImages::isForced).isPresent()) {
      violations.add(new Violation("image", "+force " + problem));
    }
    return violations;
  }

  /** Records which secrets the memory may contain, so that they are not copied unnoticed again. */
  private static Map<String, String> labels(SandboxRequest request, ProcessSource source) {
    if (source.secretNames().isEmpty()) {
      return request.labels();
    }
    Map<String, String> labels = new LinkedHashMap<>(request.labels());
    labels.put(MemoryForkPolicy.RESTORED_SECRETS, String.join(",", source.secretNames()));
    return labels;
  }

  private static RuntimeException withoutSource(Snapshot snapshot) {
    return Fault.of(
            ErrorCode.INVALID_REQUEST,
            "snapshot " + snapshot.id() + " does not contain the spec of its sandbox",
            "create the sandbox from another snapshot")
        .with("snapshot", snapshot.id())
        .exception();
  }
}
