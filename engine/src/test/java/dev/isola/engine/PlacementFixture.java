package dev.isola.engine;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Placement;
import dev.isola.document.request.Workload;
import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.placement.Fallback;
import dev.isola.engine.placement.ProviderAttempt;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.spec.SandboxSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Fake providers under one policy, with selection and fallback wired as in the engine. */
public final class PlacementFixture {
  public static final SandboxSpec SPEC = SandboxSpec.builder(new SandboxId("box1")).build();
  public static final CreateRequest MCP_SERVER =
      CreateRequest.auto(SPEC).with(Placement.DEFAULT.withWorkload(Workload.MCP_SERVER));

  public final FakeClock clock = new FakeClock();
  public final FakeLog log = new FakeLog();
  private final Map<String, FakeProvider> providers = new LinkedHashMap<>();
  private final SelectionPolicy policy;

  public PlacementFixture(SelectionPolicy policy, String... names) {
    this.policy = policy;
    for (String name : names) {
      add(new FakeProvider(name));
    }
  }

  public static PlacementFixture selfHosted(String... names) {
    return new PlacementFixture(SelectionPolicy.DEFAULT, names);
  }

  public static PlacementFixture managed(boolean key, String... names) {
    PlacementFixture fixture =
        new PlacementFixture(
            new SelectionPolicy(DeploymentMode.MANAGED, Isolation.CONTAINER, false, false, true),
            names);
    if (!key) {
      fixture.get("e2b").health = new Health.Unhealthy("has no API key", "set E2B_API_KEY");
    }
    return fixture;
  }

  public PlacementFixture add(FakeProvider provider) {
    providers.put(provider.name(), provider);
    return this;
  }

  public FakeProvider get(String name) {
    return Objects.requireNonNull(providers.get(name));
  }

  public List<ProviderStatus> statuses() {
    return providers.values().stream().map(FakeProvider::status).toList();
  }

  public Selection select(CreateRequest request) {
    Map<String, ProviderInstance> instances = new LinkedHashMap<>();
    providers.forEach(
        (name, one) -> instances.put(name, ProviderInstance.ofType(name, one.profile())));
    return new ProviderSelector(policy, instances).select(request, statuses());
  }

  /** A sandbox, the provider that created it, and the attempts that failed. */
  public record Placed(Sandbox sandbox, ProviderInfo provider, List<ProviderAttempt> attempts) {}

  public Placed place(CreateRequest request) {
    Fallback fallback = new Fallback(select(request));
    while (true) {
      ProviderInfo candidate = fallback.next();
      try {
        Sandbox sandbox = get(candidate.name()).create(request.spec());
        return new Placed(sandbox, candidate, fallback.attempts());
      } catch (RuntimeException e) {
        log.warning(fallback.failed(candidate, e, clock.instant()));
      }
    }
  }
}
