package dev.isola.app.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks the commands that no test runs: those in the comments at the beginning of scripts, in
 * blocks of pages that cannot run, and in the text of pages.
 */
class ScriptCommandsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  @TempDir static Path data;
  private static CommandSyntax syntax;

  @BeforeAll
  static void open() throws IOException {
    syntax = new CommandSyntax(ROOT, data);
  }

  @Test
  void commandsInHeadersOfScriptsExist() throws IOException {
    List<DocumentedCommand> commands = new ArrayList<>();
    for (Path script : DocumentedCommand.scripts(ROOT)) {
      String name = ROOT.relativize(script).toString();
      commands.addAll(DocumentedCommand.ofScript(name, Files.readString(script)));
    }
    assertThat(commands).hasSizeGreaterThan(50);
    assertThat(problems(commands)).isEmpty();
  }

  @Test
  void commandsInPagesThatDoNotRunExist() throws IOException {
    List<DocumentedCommand> commands = new ArrayList<>();
    for (MarkdownPage page : DocumentationTest.pages()) {
      commands.addAll(DocumentedCommand.ofPage(page, Files.readString(ROOT.resolve(page.name()))));
    }
    assertThat(commands).hasSizeGreaterThan(50);
    assertThat(problems(commands)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          testing/none-here.sh                                            | there is no testing/none-here.sh
          testing/engines-here.sh --dockre true                           | has no option --dockre
          testing/engines-here.sh --docker testing/none.sh                | there is no testing/none.sh
          testing/cluster-here.sh ./isola conformance kubernetes --json   | needs --set image=IMAGE
          testing/cluster-here.sh sh -c './isola conformance kubernets'   | no provider is named kubernets
          packaging/build --image && packaging/none                       | there is no packaging/none
          ./isola conformance bubblewrap --matrx FILE                     | --matrx
          ./isola snapshot ls --alll                                      | --alll
          ./isola imege build base                                        | imege
          ./check -pl app -am                                             | ./check has no option -am
          ./check -pl engin                                               | there is no module engin
          ./check -Dtest=NoneTest                                         | there is no test class NoneTest
          testing/flakes-here.sh 3 --al                                   | ./check has no option --al
          """)
  void wrongCommandsAreFound(String command, String problem) throws IOException {
    assertThat(syntax.problems(new DocumentedCommand("page:1", command)))
        .singleElement()
        .asString()
        .contains(problem);
  }

  private static List<String> problems(List<DocumentedCommand> commands) throws IOException {
    List<String> problems = new ArrayList<>();
    for (DocumentedCommand command : commands) {
      problems.addAll(syntax.problems(command));
    }
    return problems;
  }
}
