package dev.isola.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.PlacementFixture;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Resources;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.engine.selection.ProviderSelector;
import dev.isola.spi.Hosting;
import dev.isola.spi.provider.HostResources;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Fake machines: the provider of this one, and those of other machines of the operator. */
class MachineBalancerTest {
  private final Map<String, ProviderInstance> instances = new HashMap<>();
  private final List<ProviderStatus> statuses = new ArrayList<>();
  private final Map<String, Long> promised = new HashMap<>();

  private void add(String name, boolean own, long freeMemoryMb) {
    FakeProvider provider = new FakeProvider("bubblewrap");
    instances.put(
        name,
        new ProviderInstance(
            name,
            "bubblewrap",
            Optional.empty(),
            own,
            provider.profile().withHosting(own ? Hosting.REMOTE : Hosting.LOCAL)));
    ProviderStatus status = provider.status();
    statuses.add(
        new ProviderStatus(
            name,
            status.info().map(info -> info.withName(name)),
            status.health(),
            freeMemoryMb == 0
                ? Optional.empty()
                : Optional.of(
                    new HostResources(
                        8,
                        64_000,
                        OptionalLong.of(freeMemoryMb),
                        OptionalLong.empty(),
                        OptionalLong.empty())),
            status.at()));
  }

  private Selection select(CreateRequest request) {
    Selection selection =
        new ProviderSelector(SelectionPolicy.DEFAULT, instances).select(request, statuses);
    return new MachineBalancer(
            instances, () -> statuses, name -> Resources.of(0, promised.getOrDefault(name, 0L)))
        .balance(selection);
  }

  private List<String> order() {
    return select(CreateRequest.auto(PlacementFixture.SPEC)).names();
  }

  @Test
  void machineWithTheMostFreeMemoryIsFirst() {
    add("bubblewrap", false, 1000);
    add("attic", true, 3000);
    add("cellar", true, 2000);
    assertThat(order()).containsExactly("attic", "cellar", "bubblewrap");
    assertThat(select(CreateRequest.auto(PlacementFixture.SPEC)).advantages())
        .containsOnlyKeys("cellar", "bubblewrap")
        .containsValue("has more free memory");
  }

  @Test
  void promisedMemoryIsNotFree() {
    add("bubblewrap", false, 3000);
    add("attic", true, 3000);
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < 10; i++) {
      String first = order().getFirst();
      counts.merge(first, 1, Integer::sum);
      promised.merge(first, 512L, Long::sum);
    }
    assertThat(counts).containsExactlyInAnyOrderEntriesOf(Map.of("bubblewrap", 5, "attic", 5));
  }

  @Test
  void machineThatReportsNothingIsLast() {
    add("attic", true, 0);
    add("bubblewrap", false, 1);
    assertThat(order()).containsExactly("bubblewrap", "attic");
  }

  @Test
  void namedProviderStays() {
    add("bubblewrap", false, 9000);
    add("attic", true, 1000);
    assertThat(select(CreateRequest.of(PlacementFixture.SPEC, "attic")).names())
        .containsExactly("attic");
  }

  @Test
  void remoteProviderOfSomeoneElseIsUsedOnlyIfNamed() {
    add("bubblewrap", false, 1000);
    add("attic", true, 9000);
    instances.computeIfPresent(
        "attic",
        (name, one) -> new ProviderInstance(name, one.type(), one.region(), false, one.profile()));
    statuses.set(1, remote(statuses.get(1)));
    assertThat(order()).containsExactly("bubblewrap");
  }

  private static ProviderStatus remote(ProviderStatus status) {
    return new ProviderStatus(
        status.name(),
        new FakeProvider("e2b").status().info().map(info -> info.withName(status.name())),
        status.health(),
        status.resources(),
        status.at());
  }
}
