package dev.isola.documents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that every row of docs/threat-model.md has a result, and a test or a reason for none. */
final class ThreatModelTest {
  private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
  private static final Set<String> RESULTS = Set.of("held", "bounded", "outside", "not held");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern REASON = Pattern.compile("no test: .{10,}");

  /** A name of a test: a path, a class, or a member of a class, a group or a file. */
  private static final Pattern TEST =
      Pattern.compile("testing/\\S+|[A-Z]\\w+Tests?|\\w+\\.[a-zA-Z]\\w+");

  private static TestIndex tests;

  @BeforeAll
  static void readTests() throws IOException {
    tests = TestIndex.of(ROOT);
  }

  @Test
  void everyRowHasAResultAndATestThatExists() throws IOException {
    List<String> rows = attacks(model());
    assertThat(rows).hasSizeGreaterThan(100);
    assertThat(rows.stream().flatMap(row -> findings(row).stream())).isEmpty();
  }

  @Test
  void everyProviderIsInARow() throws IOException {
    String rows = String.join("\n", attacks(model()));
    List<String> names =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(factory -> factory.get().name())
            .filter(name -> !name.equals("example"))
            .toList();
    assertThat(names).contains("bubblewrap", "kubernetes");
    assertThat(names).allSatisfy(name -> assertThat(rows).contains("`" + name + "`"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "| a | held | |",
        "| a | held | all of them |",
        "| a | held | no test: |",
        "| a | mostly | `Escape.kernelIsItsOwn` |",
        "| a | held | `Escape.kernelIsItsOwnOrNot` |",
        "| a | held | `ThreatModelTest.nothing` |",
        "| a | held | `ThreatModelTest.findings` |",
        "| a | held | `NoSuchTest.everyProviderIsInARow` |",
        "| a | held | `path_test.no_race` |",
        "| a | held | `Escape.kernelIsItsOwn`, `testing/nothing.sh` |"
      })
  void rowThatProvesNothingIsFound(String row) {
    assertThat(findings(row)).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "| a | held | `Escape.kernelIsItsOwn`, `ThreatModelTest.everyProviderIsInARow` |",
        "| a | held | `path_test.swap_race` |",
        "| a | bounded | `ThreatModelTest.rowThatProvesNothingIsFound` (with a remark) |",
        "| a | not held | no test: nothing is promised |"
      })
  void rowWithATestOrAReasonPasses(String row) {
    assertThat(findings(row)).isEmpty();
  }

  /** Checks the other documents that name the test of a promise. */
  @ParameterizedTest
  @ValueSource(strings = {"SPECIFICATION.md", "SECURITY.md", "docs/threat-model.md"})
  void everyTestThatADocumentNamesExists(String document) throws IOException {
    List<String> names =
        CODE.matcher(Files.readString(ROOT.resolve(document)))
            .results()
            .map(match -> match.group(1).replaceFirst("^(?:[a-z]+\\.)+(?=[A-Z])", ""))
            .filter(name -> name.matches("[A-Z]\\w+(?:Test|Tests|Contract)(?:\\.\\w+)?"))
            .toList();
    assertThat(names).isNotEmpty();
    assertThat(names.stream().filter(name -> !tests.contains(name))).isEmpty();
  }

  private static String model() throws IOException {
    return Files.readString(ROOT.resolve("docs/threat-model.md"));
  }

  /** Returns the rows of the tables that have a column for the result. */
  private static List<String> attacks(String model) {
    List<String> rows = new ArrayList<>();
    boolean inside = false;
    for (String line : model.lines().toList()) {
      if (!line.startsWith("|")) {
        inside = false;
      } else if (line.endsWith("| result | test |")) {
        inside = true;
      } else if (inside && !line.startsWith("|---")) {
        rows.add(line);
      }
    }
    return rows;
  }

  private static List<String> findings(String row) {
    String[] cells = row.strip().replaceAll("^\\||\\|$", "").split("\\|", -1);
    String result = cells[cells.length - 2].strip();
    String test = cells[cells.length - 1].strip();
    List<String> findings = new ArrayList<>();
    if (!RESULTS.contains(result)) {
      findings.add("no result: " + row);
    }
    List<String> names =
        CODE.matcher(test)
            .results()
            .map((MatchResult match) -> match.group(1))
            .filter(TEST.asMatchPredicate())
            .toList();
    if (names.isEmpty() && !REASON.matcher(test).matches()) {
      findings.add("neither a test nor a reason for none: " + row);
    }
    names.stream()
        .filter(name -> !tests.contains(name))
        .forEach(name -> findings.add("no such test: " + name));
    return findings;
  }
}
