package dev.isola.documents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

  /** What a guest process may attack depends on the provider, so a row names all that it covers. */
  @Test
  void everyProviderIsInARowAboutEachTargetOfAGuestProcess() throws IOException {
    Map<String, List<String>> sections = sections(model());
    List<String> targets =
        sections.keySet().stream().filter(name -> name.startsWith("A guest process")).toList();
    assertThat(targets).hasSize(5);
    List<String> missing = new ArrayList<>();
    for (String target : targets) {
      String covered =
          sections.getOrDefault(target, List.of()).stream()
              .map(row -> row.split("\\|", -1)[1])
              .collect(Collectors.joining());
      providers().stream()
          .filter(name -> !covered.contains("`" + name + "`"))
          .forEach(name -> missing.add(target + ": " + name));
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void everyProviderSaysWhereItsTestsRun() throws IOException {
    String model = model();
    String where = model.substring(model.indexOf("## Which tests"), model.indexOf("## A guest"));
    assertThat(providers()).allSatisfy(name -> assertThat(where).contains("`" + name + "`"));
  }

  private static List<String> providers() {
    List<String> names =
        ServiceLoader.load(ProviderFactory.class).stream()
            .map(factory -> factory.get().name())
            .filter(name -> !name.equals("example"))
            .toList();
    assertThat(names).contains("bubblewrap", "kubernetes").hasSizeGreaterThan(15);
    return names;
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
        "| a | held | `NoSuchTest.everyProviderSaysWhereItsTestsRun` |",
        "| a | held | `path_test.no_race` |",
        "| a | held | `Escape.kernelIsItsOwn`, `testing/nothing.sh` |"
      })
  void rowThatProvesNothingIsFound(String row) {
    assertThat(findings(row)).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "| a | held | `Escape.kernelIsItsOwn`, `ThreatModelTest.everyProviderSaysWhereItsTestsRun` |",
        "| a | held | `path_test.swap_race` |",
        "| a | bounded | `ThreatModelTest.rowThatProvesNothingIsFound` (with a remark) |",
        "| a | not held | no test: nothing is promised |"
      })
  void rowWithATestOrAReasonPasses(String row) {
    assertThat(findings(row)).isEmpty();
  }

  @Test
  void classWithoutATestIsNone(@TempDir Path root) throws IOException {
    Path tests = Files.createDirectories(root.resolve("src/test/java"));
    Files.writeString(tests.resolve("EmptyTest.java"), "class EmptyTest { void helps() {} }");
    Files.writeString(tests.resolve("FullTest.java"), "class FullTest { @Test void holds() {} }");
    Files.writeString(tests.resolve("HeirTest.java"), "class HeirTest extends FullTest {}");
    TestIndex index = TestIndex.of(root);
    assertThat(index.contains("EmptyTest")).isFalse();
    assertThat(index.contains("EmptyTest.helps")).isFalse();
    assertThat(index.contains("FullTest")).isTrue();
    assertThat(index.contains("FullTest.holds")).isTrue();
    assertThat(index.contains("HeirTest")).isTrue();
  }

  /** Checks the other documents that name the test of a promise. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SPECIFICATION.md",
        "SECURITY.md",
        "docs/threat-model.md",
        "docs/security-findings.md"
      })
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

  private static List<String> attacks(String model) {
    return sections(model).values().stream().flatMap(List::stream).toList();
  }

  /** Returns the rows of the tables that have a column for the result, by their heading. */
  private static Map<String, List<String>> sections(String model) {
    Map<String, List<String>> sections = new LinkedHashMap<>();
    String heading = "";
    boolean inside = false;
    for (String line : model.lines().toList()) {
      if (line.startsWith("## ")) {
        heading = line.substring(3);
      }
      if (!line.startsWith("|")) {
        inside = false;
      } else if (line.endsWith("| result | test |")) {
        inside = true;
      } else if (inside && !line.startsWith("|---")) {
        sections.computeIfAbsent(heading, _ -> new ArrayList<>()).add(line);
      }
    }
    return sections;
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
