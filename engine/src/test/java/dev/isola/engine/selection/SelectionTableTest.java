package dev.isola.engine.selection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.Placement;
import dev.isola.document.request.Workload;
import dev.isola.engine.FakeProvider;
import dev.isola.engine.PlacementFixture;
import dev.isola.engine.api.DeploymentMode;
import dev.isola.engine.api.ProviderInstance;
import dev.isola.engine.api.ProviderStatus;
import dev.isola.engine.api.Selection;
import dev.isola.engine.api.SelectionPolicy;
import dev.isola.spi.Isolation;
import dev.isola.spi.provider.ProviderInfo;
import dev.isola.spi.provider.Requirements;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
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

  private static final Set<String> ALL = Set.copyOf(NAMES);

  /** One of so many rows is tried with its providers in another order, too. */
  private static final int SHUFFLED = 8;

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

    List<String> violations = new ArrayList<>();
    for (ProviderInfo candidate : selection.candidates()) {
      String name = candidate.name();
      if (!candidate.isolation().isAtLeast(row.policy().floor())) {
        violations.add(name + " is below the floor");
      }
      if (!candidate.isolation().isAtLeast(row.required())) {
        violations.add(name + " is below what the request requires");
      }
      if (candidate.isolation() == Isolation.PROCESS && !row.policy().allowProcess()) {
        violations.add(name + " is a process, which is not allowed");
      }
      if ((row.healthy() & 1 << NAMES.indexOf(name)) == 0) {
        violations.add(name + " is ill");
      }
    }
    Set<String> seen = new HashSet<>(names);
    selection.rejections().forEach(one -> seen.add(one.provider()));
    if (names.size() + selection.rejections().size() != NAMES.size() || !seen.equals(ALL)) {
      violations.add("not each provider once: " + seen);
    }
    if (selection.rejections().stream().anyMatch(one -> one.reason().isBlank())) {
      violations.add("a rejection has no reason");
    }
    if (names.contains("worktree")) {
      violations.add("worktree is chosen");
    }
    boolean cloud = row.policy().mode() == DeploymentMode.MANAGED;
    if (names.contains("e2b") && !(cloud && names.getFirst().equals("e2b"))) {
      violations.add("e2b is not the first of a cloud");
    }
    if (!names.equals(expectedOrder(row, names))) {
      violations.add("the order is " + names);
    }
    Random random = new Random(row.hashCode());
    if (random.nextInt(SHUFFLED) == 0) {
      List<ProviderStatus> shuffled = new ArrayList<>(statuses);
      Collections.shuffle(shuffled, random);
      if (!new ProviderSelector(row.policy(), INSTANCES)
          .select(row.request(), shuffled)
          .equals(selection)) {
        violations.add("the order in which providers were found matters");
      }
    }
    assertThat(violations).as("%s", row).isEmpty();
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
