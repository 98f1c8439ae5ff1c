package dev.isola.engine;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Placement;
import dev.isola.document.request.Workload;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.Standing;
import dev.isola.engine.placing.Fallback;
import dev.isola.engine.placing.PlacementResult;
import dev.isola.engine.selection.DeploymentMode;
import dev.isola.engine.selection.Policy;
import dev.isola.engine.selection.Selection;
import dev.isola.engine.selection.Selector;
import dev.isola.spi.Health;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxId;
import dev.isola.spi.spec.SandboxSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Fake providers under one policy, with selection and fallback as the engine puts them together.
 */
public final class FakeHouse {
  public static final SandboxSpec SPEC = SandboxSpec.builder(new SandboxId("box1")).build();
  public static final CreateRequest MCP_SERVER =
      CreateRequest.auto(SPEC).with(Placement.DEFAULT.withWorkload(Workload.MCP_SERVER));

  public final FakeClock clock = new FakeClock();
  public final FakeLog log = new FakeLog();
  private final Map<String, FakeProvider> providers = new LinkedHashMap<>();
  private final Policy policy;

  public FakeHouse(Policy policy, String... names) {
    this.policy = policy;
    for (String name : names) {
      add(new FakeProvider(name));
    }
  }

  public static FakeHouse selfHosted(String... names) {
    return new FakeHouse(Policy.DEFAULT, names);
  }

  public static FakeHouse managed(boolean key, String... names) {
    FakeHouse house =
        new FakeHouse(new Policy(DeploymentMode.MANAGED, Isolation.CONTAINER, false, true), names);
    if (!key) {
      house.get("e2b").health = new Health.Unhealthy("has no API key", "set E2B_API_KEY");
    }
    return house;
  }

  public FakeHouse add(FakeProvider provider) {
    providers.put(provider.name(), provider);
    return this;
  }

  public FakeProvider get(String name) {
    return Objects.requireNonNull(providers.get(name));
  }

  public List<Standing> standings() {
    return providers.values().stream().map(FakeProvider::standing).toList();
  }

  public Selection select(CreateRequest request) {
    Map<String, ProviderInstance> instances = new LinkedHashMap<>();
    providers.forEach(
        (name, one) -> instances.put(name, ProviderInstance.ofType(name, one.profile())));
    return new Selector(policy, instances).select(request, standings());
  }

  public PlacementResult place(CreateRequest request) {
    return new Fallback(clock, log)
        .place(select(request), name -> get(name).create(request.spec()));
  }
}
