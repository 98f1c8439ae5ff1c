package dev.isola.conformance;

import dev.isola.conformance.CheckResult.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Renders results as a Markdown page: the counts of each provider, a table of checks by provider
 * for each group, and the reasons of failed and skipped checks.
 */
public final class ConformanceMatrix {
  private final List<ProviderResult> providers;
  private final StringBuilder page = new StringBuilder();

  private ConformanceMatrix(List<ProviderResult> providers) {
    this.providers = List.copyOf(providers);
  }

  public static String markdown(List<ProviderResult> providers) {
    ConformanceMatrix matrix = new ConformanceMatrix(providers);
    matrix.write();
    return matrix.page.toString();
  }

  private void write() {
    page.append("# Conformance\n\n");
    page.append("Written by `isola conformance --matrix`: every check of the kit against every");
    page.append(" provider that was run.\n\n");
    counts();
    for (Map.Entry<String, Set<String>> group : groups().entrySet()) {
      group(group.getKey(), group.getValue());
    }
    reasons(Outcome.FAILED, "Failed");
    reasons(Outcome.NOT_RUN, "Not run");
  }

  private void counts() {
    row(List.of("provider", "passed", "failed", "not run"));
    rule(4);
    for (ProviderResult provider : providers) {
      row(
          List.of(
              provider.name(),
              Long.toString(provider.count(Outcome.PASSED)),
              Long.toString(provider.count(Outcome.FAILED)),
              Long.toString(provider.count(Outcome.NOT_RUN))));
    }
  }

  /** Returns the ids of the checks by group, in the order in which they ran. */
  private Map<String, Set<String>> groups() {
    Map<String, Set<String>> groups = new LinkedHashMap<>();
    for (ProviderResult provider : providers) {
      for (CheckResult check : provider.checks()) {
        String group = check.id().substring(0, Math.max(0, check.id().indexOf('.')));
        groups.computeIfAbsent(group, name -> new LinkedHashSet<>()).add(check.id());
      }
    }
    return groups;
  }

  private void group(String name, Set<String> ids) {
    page.append("\n## ").append(name).append("\n\n");
    List<String> head = new ArrayList<>(List.of("check", "guards"));
    providers.forEach(provider -> head.add(provider.name()));
    row(head);
    rule(head.size());
    for (String id : ids) {
      List<String> cells = new ArrayList<>(List.of(id.substring(name.length() + 1)));
      cells.add(
          providers.stream()
              .flatMap(provider -> find(provider, id).stream())
              .map(CheckResult::requirement)
              .findFirst()
              .orElse(""));
      providers.forEach(
          provider -> cells.add(find(provider, id).map(ConformanceMatrix::verdict).orElse("")));
      row(cells);
    }
    List<String> counts = new ArrayList<>(List.of("**passed**", ""));
    providers.forEach(provider -> counts.add("**" + passed(provider, ids) + "**"));
    row(counts);
  }

  private static Optional<CheckResult> find(ProviderResult provider, String id) {
    return provider.checks().stream().filter(check -> check.id().equals(id)).findFirst();
  }

  private static String passed(ProviderResult provider, Set<String> ids) {
    List<CheckResult> run =
        provider.checks().stream().filter(check -> ids.contains(check.id())).toList();
    long passed = run.stream().filter(check -> check.outcome() == Outcome.PASSED).count();
    return passed + "/" + run.size();
  }

  private static String verdict(CheckResult check) {
    return switch (check.outcome()) {
      case PASSED -> "passed";
      case FAILED -> "**FAILED**";
      case NOT_RUN -> "NOT RUN";
    };
  }

  private void reasons(Outcome outcome, String title) {
    if (providers.stream().allMatch(provider -> provider.count(outcome) == 0)) {
      return;
    }
    page.append("\n## ").append(title).append("\n\n");
    row(List.of("provider", "check", "reason"));
    rule(3);
    for (ProviderResult provider : providers) {
      provider.checks().stream()
          .filter(check -> check.outcome() == outcome)
          .forEach(check -> row(List.of(provider.name(), check.id(), check.reason())));
    }
  }

  private void row(List<String> cells) {
    page.append('|');
    for (String cell : cells) {
      page.append(' ').append(plain(cell)).append(" |");
    }
    page.append('\n');
  }

  private void rule(int columns) {
    page.append('|').repeat("---|", columns).append('\n');
  }

  /** Escapes provider messages, so that they stay in one cell and are not interpreted as markup. */
  private static String plain(String cell) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < cell.length(); i++) {
      char c = cell.charAt(i);
      switch (c) {
        case '|' -> text.append("\\|");
        case '<' -> text.append("&lt;");
        default -> text.append(Character.isISOControl(c) ? ' ' : c);
      }
    }
    return text.toString();
  }
}
