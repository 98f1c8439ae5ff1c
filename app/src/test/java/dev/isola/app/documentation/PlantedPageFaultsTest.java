package dev.isola.app.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;

/** Shows that {@link PageRunner} finds planted faults in pages, and accepts what is right. */
@Tag("all")
class PlantedPageFaultsTest {
  @TempDir Path folder;
  private PageRunner runner;

  @BeforeEach
  void start() throws IOException {
    runner =
        new PageRunner(
            new PageEnvironment(true, Map.of(), "4711", Optional.empty()),
            List.of(),
            Files.createDirectory(folder.resolve("p")));
  }

  @AfterEach
  void end() {
    runner.close();
  }

  /** Checks all blocks of a page; {@code ~~~} stands for the fence. */
  private void check(String page) throws Exception {
    MarkdownPage parsed = MarkdownPage.parse("page.md", page.replace("~~~", "```"));
    assertThat(parsed.problems()).isEmpty();
    for (FencedBlock block : parsed.blocks()) {
      runner.check(block);
    }
  }

  private static String problems(String page) {
    return String.join("\n", MarkdownPage.parse("page.md", page.replace("~~~", "```")).problems());
  }

  private void assertFound(String page, String... parts) {
    assertThat(catchThrowable(() -> check(page)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContainingAll(parts);
  }

  @Test
  void blocksOfAPageShareAShellWithTheRealCommand() throws Exception {
    check(
        """
        # Page
        ~~~sh
        version=$(./isola --version | head -n 1)
        cd / && greet() { echo "hello, $1"; }
        isola nosuchcommand || echo "exit code $?"
        ~~~
        <!-- output -->
        ~~~text
        ...
        exit code 2
        ~~~
        1. a list

           ~~~sh
           greet 'a  b'
           pwd
           test -n "$version" # not empty
           echo localhost:7777
           ~~~

           <!-- output -->
           ~~~text
           hello, ...
           /
           localhost:4711
           ~~~
        """);
  }

  @Test
  void failingCommandIsFoundWithItsLine() {
    assertFound(
        "# Page\n\n~~~sh\ntrue\nls /no-such-folder\n~~~\n", "page.md:3", "line 5", "exit code 2");
    assertFound("~~~sh\ntrue\n~~~\n", "has ended");
  }

  @Test
  void missingLineOfTheOutputIsFound() throws Exception {
    check("<!-- prints: b c -->\n~~~sh\necho a; echo b c\n~~~\n");
    assertFound("<!-- prints: b -->\n~~~sh\necho a; echo b c\n~~~\n", "page.md:2", "'b'", "b c");
    assertThat(problems("<!-- prints b -->\n~~~sh\necho b\n~~~\n")).contains("unknown instruction");
  }

  @Test
  void wrongOptionOfTheCommandIsFound() {
    assertFound("~~~sh\nisola doctor --no-such-option\n~~~\n", "line 2", "exit code 2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "false | cat",
        "echo \"$missing\"",
        "(exit 3)",
        "if true",
        "exit 0",
        "no-such-program"
      })
  void faultsOfAScriptAreFound(String script) {
    assertFound("~~~sh\n" + script + "\n~~~\n", "page.md:1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "isola run -- true     runs a command",
        "isola run -- sh -c 'echo  hello'   builds on first use",
        "$ isola doctor",
        "isola login ...",
        "export KEY=isk_…"
      })
  void proseOnACommandLineIsFound(String line) {
    assertFound("~~~sh\n" + line + "\n~~~\n", "cannot be pasted", line);
    assertFound("<!-- not run: a test -->\n~~~sh\n" + line + "\n~~~\n", "cannot be pasted");
  }

  @Test
  void commentsQuotesAndDocumentsAreNotProse() {
    assertThat(
            ShellStyle.findings(
                """
                echo a    # a comment ...
                # another   comment ...
                printf 'a    b ...'
                  indented
                cat <<'EOF'
                a    table   ...
                EOF
                tr a b <<< 'a    b'
                """))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "json  | {\"a\": 1,}                     | not JSON",
        "json  | {\"a\": 1} {\"b\": 2}           | not JSON",
        "xml   | <a><b></a>                      | not XML",
        "yaml  | floor: container: x             | not YAML",
        "yaml  | 'floor: contaner'               | floor",
        "yaml  | 'flor: container'               | flor",
        "yaml  | '{base: debian:12, step: []}'   | step",
        "java  | Sandbox s = isola.creat();      | creat",
        "java  | String s = 1;                   | does not compile",
        "java  | class A { int a() {} }          | does not compile",
        "python | print(                         | syntax",
        "''    | ./isola doctor                  | no language",
        "bash  | ./isola doctor                  | unknown language",
        "shell | ./isola doctor                  | unknown language",
      })
  void wrongBlockIsFound(String language, String text, String problem) {
    assertFound("~~~" + language + "\n" + text + "\n~~~\n", "page.md:1", problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "json  | {\"a\": [1, null]}",
        "xml   | <a>1</a><b/>",
        "yaml  | '{floor: container, providers: {docker: {enabled: false}}}'",
        "yaml  | '{base: debian:12, steps: [{run: ls}]}'",
        "java  | Sandbox s = isola.create(SandboxSpec.DEFAULT);",
        "java  | @Sandboxed class A { int a() { return 1; } }",
        "python | 'print(\"fine\")'",
        "text  | any    thing ...",
      })
  void rightBlockIsAccepted(String language, String text) throws Exception {
    check("<!-- other comments are not instructions -->\n~~~" + language + "\n" + text + "\n~~~\n");
  }

  @Test
  void programsAndTestsInJavaRun() {
    assertFound(
        "~~~java\nvoid main() {\n  IO.println(\"seen\");\n  System.exit(3);\n}\n~~~\n",
        "exit code 3",
        "seen");
    assertFound(
        "~~~java\nclass ATest {\n  @Test\n  void fails() {\n    fail(\"seen\");\n  }\n}\n~~~\n",
        "seen");
  }

  @Test
  void differentOutputIsFound() {
    assertFound(
        "~~~sh\necho one; echo two >&2\n~~~\n<!-- output -->\n~~~text\none\nthree\n~~~\n",
        "page.md:5",
        "three",
        "two");
    assertFound("<!-- output -->\n~~~text\none\n~~~\n", "no block that ran");
  }

  @Test
  void blockThatIsNotRunIsReportedWithItsReason() {
    assertThatThrownBy(() -> check("<!-- not run: needs systemd -->\n~~~sh\nfalse\n~~~\n"))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("NOT RUN: needs systemd");
    assertFound("<!-- not run: needs systemd -->\n~~~sh\nif true\n~~~\n", "syntax");
    assertFound("<!-- not run: needs a cloud -->\n~~~java\nString s = 1;\n~~~\n", "not compile");
    assertFound("<!-- not run: because -->\n~~~json\n{}\n~~~\n", "programs only");
  }

  @Test
  void terminalBlockGetsATerminalAndTypedKeys() throws Exception {
    check("<!-- typed: echo $((6 * 7)); exit -->\n~~~sh\ntest -t 0 && bash --norc -i\n~~~\n");
    assertFound("<!-- typed: exit 4 -->\n~~~sh\nbash --norc -i\n~~~\n", "exit code 4");
  }

  @Test
  void faultsOfInstructionsAreFound() {
    assertThat(problems("<!-- not run: x -->\n\n~~~sh\n~~~\n")).contains("page.md:1");
    assertThat(problems("<!-- not run: -->\n~~~sh\n~~~\n")).contains("no reason");
    assertThat(problems("<!-- not-run: x -->\n~~~sh\n~~~\n")).contains("unknown instruction");
    assertThat(problems("text\n~~~sh\ntrue\n")).contains("page.md:2", "not closed");
    assertThat(problems("<!-- java:\nimport a.B;\n-->\n~~~java\nB b;\n~~~\n")).isEmpty();
  }

  @Test
  void samplesMatchLineByLine() {
    assertThat(ExpectedOutput.matches("a\n...\nd\n", "a\nb\nc\nd\n")).isTrue();
    assertThat(ExpectedOutput.matches("a\n...\n", "a\n")).isTrue();
    assertThat(ExpectedOutput.matches("id ... is ready\n", "id 17 is ready\n\n")).isTrue();
    assertThat(ExpectedOutput.matches("a...\n", "a1\nb\n")).isFalse();
    assertThat(ExpectedOutput.matches("a.c\n", "abc\n")).isFalse();
    assertThat(ExpectedOutput.matches("a\nb\n", "a\n")).isFalse();
  }

  @Test
  void excerptMustBeInItsFile() throws Exception {
    String page =
        """
        <!-- excerpt of: client/java-examples/src/main/java/dev/isola/client/examples/FILE.java -->
        ~~~java
        public
          final class RunCode {
        ~~~
        """;
    check(page.replace("FILE", "RunCode"));
    assertFound(page.replace("FILE", "FollowBuild"), "page.md:2", "is not an excerpt of");
    assertFound(page.replace("FILE", "Missing"), "which does not exist");
    assertThat(problems("<!-- excerpt: x -->\n~~~java\n~~~\n")).contains("unknown instruction");
  }
}
