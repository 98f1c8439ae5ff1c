package dev.isola.engine.selection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Placement;
import dev.isola.document.request.Workload;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.PlacementFixture;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.Requirements;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks the invariants of selection for every combination of mode, workload, floor, required
 * isolation and allow_process, with every combination of healthy providers.
 */
class SelectionTableTest {
  private static final List<String> NAMES =
      List.of(
          "firecracker",
          "gvisor",
          "docker",
          "bubblewrap",
          "proot",
          "subprocess",
          "e2b",
          "aardvark",
          "worktree");

  /** One row of the table. */
  private record Row(SelectionPolicy policy, Workload type, Isolation required, int healthy) {
    CreateRequest request() {
      return CreateRequest.auto(PlacementFixture.SPEC)
          .with(Placement.DEFAULT.withWorkload(type))
          .requiring(Requirements.isolation(required));
    }

    List<ProviderStatus> statuses() {
      return STANDINGS.get(healthy);
    }
  }

  private static final List<List<ProviderStatus>> STANDINGS =
      IntStream.range(0, 1 << NAMES.size()).mapToObj(SelectionTableTest::statuses).toList();

  private static final Map<String, ProviderInstance> INSTANCES =
      NAMES.stream()
          .collect(
              Collectors.toMap(
                  name -> name, name -> ProviderInstance.ofType(name, provider(name).profile())));

  private static FakeProvider provider(String name) {
    return name.equals("aardvark") ? new FakeProvider(name, Isolation.VM) : new FakeProvider(name);
  }

  private static List<ProviderStatus> statuses(int healthy) {
    List<ProviderStatus> statuses = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      FakeProvider provider = provider(name);
      if ((healthy & 1 << i) == 0) {
        provider.ill(name + " is ill");
      }
      statuses.add(provider.status());
    }
    return statuses;
  }

  private static Stream<Row> rows() {
    Stream.Builder<Row> rows = Stream.builder();
    for (DeploymentMode mode : DeploymentMode.values()) {
      for (boolean process : List.of(false, true)) {
        for (Isolation floor : Isolation.values()) {
          for (Workload type : Workload.values()) {
            for (Isolation required : Isolation.values()) {
              for (int healthy = 0; healthy < 1 << NAMES.size(); healthy++) {
                rows.add(
                    new Row(
                        new SelectionPolicy(mode, floor, process, false, true),
                        type,
                        required,
                        healthy));
              }
            }
          }
        }
      }
    }
    return rows.build();
  }

  @Test
  void invariantsHoldForEveryCombination() {
    List<List<String>> answers = rows().map(SelectionTableTest::check).toList();
    assertThat(answers.size()).isEqualTo(2 * 2 * 4 * 2 * 4 * 512);
    assertThat(Set.copyOf(answers)).as("the results differ").hasSizeGreaterThan(200);
  }

  private static List<String> check(Row row) {
    List<ProviderStatus> statuses = row.statuses();
    Selection selection =
        new ProviderSelector(row.policy(), INSTANCES).select(row.request(), statuses);
    List<String> names = selection.names();

    for (ProviderInfo candidate : selection.candidates()) {
      assertThat(candidate.isolation().isAtLeast(row.policy().floor())).as("%s", row).isTrue();
      assertThat(candidate.isolation().isAtLeast(row.required())).as("%s", row).isTrue();
      assertThat(candidate.isolation() != Isolation.PROCESS || row.policy().allowProcess())
          .as("process only when allowed: %s", row)
          .isTrue();
      assertThat(row.healthy() & 1 << NAMES.indexOf(candidate.name())).as("%s", row).isNotZero();
    }

    List<String> seen = new ArrayList<>(names);
    selection.rejections().forEach(one -> seen.add(one.provider()));
    assertThat(seen).as("each once: %s", row).containsExactlyInAnyOrderElementsOf(NAMES);
    assertThat(selection.rejections()).as("%s", row).noneMatch(one -> one.reason().isBlank());

    assertThat(names).as("%s", row).doesNotContain("worktree");
    boolean cloud = row.policy().mode() == DeploymentMode.MANAGED;
    assertThat(!names.contains("e2b") || (cloud && names.getFirst().equals("e2b")))
        .as("%s", row)
        .isTrue();
    assertThat(names).as("%s", row).isEqualTo(expectedOrder(row, names));

    List<ProviderStatus> shuffled = new ArrayList<>(statuses);
    Collections.shuffle(shuffled, new Random(row.hashCode()));
    assertThat(new ProviderSelector(row.policy(), INSTANCES).select(row.request(), shuffled))
        .as("the order in which providers were found does not matter: %s", row)
        .isEqualTo(selection);
    return names;
  }

  /** Written out, independently of the code under test. */
  private static List<String> expectedOrder(Row row, List<String> names) {
    List<String> request =
        row.type() == Workload.MCP_SERVER
            ? List.of(
                "e2b",
                "gvisor",
                "aardvark",
                "firecracker",
                "bubblewrap",
                "docker",
                "subprocess",
                "proot")
            : List.of(
                "e2b",
                "aardvark",
                "firecracker",
                "gvisor",
                "bubblewrap",
                "docker",
                "subprocess",
                "proot");
    return request.stream().filter(names::contains).toList();
  }
}
