package dev.isola.document.dockerfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.isola.document.RecipeDocument;
import dev.isola.document.recipe.BuildStep;
import dev.isola.document.recipe.Recipe;
import dev.isola.spi.error.InvalidRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Dockerfiles as recipes. */
class DockerfileTest {
  private static Dockerfile read(String text) {
    return Dockerfile.read(text, Map.of(), image -> Optional.empty());
  }

  private static List<String> steps(Dockerfile file) {
    return RecipeDocument.check(file.recipe()).steps().stream().map(BuildStep::text).toList();
  }

  @Test
  void readsTheCommonInstructions() {
    Dockerfile file =
        read(
            """
            # syntax=docker/dockerfile:1
            ARG VERSION=12
            from debian:${VERSION} AS build

            ENV APP=/srv/app \\
                # a comment between continued lines
                GREETING="hello world" QUOTED='$APP'
            WORKDIR $APP
            COPY --chown=user:user --chmod=0755 src/ conf/*.ini ./
            COPY ["a file", "/opt/a file"]
            ADD notes.txt /
            RUN make && \\
                make install
            RUN ["sh", "-c", "echo it's $HOME"]
            USER user:user
            ENV OLD a value with spaces
            EXPOSE 80
            LABEL a=b
            LABEL c=d
            """);
    assertThat(file.recipe()).containsEntry("base", "debian:12").doesNotContainKey("start");
    assertThat(steps(file))
        .containsExactly(
            "ENV APP=/srv/app GREETING=hello world QUOTED=$APP",
            "WORKDIR /srv/app",
            "COPY --chown=user:user --chmod=0755 src/ ./",
            "COPY --chown=user:user --chmod=0755 conf/*.ini ./",
            "COPY --chown=root:root a file /opt/a file",
            "COPY --chown=root:root notes.txt /",
            "RUN make &&     make install",
            "RUN exec 'sh' '-c' 'echo it'\\''s $HOME'",
            "USER user:user",
            "ENV OLD=a value with spaces");
    assertThat(file.notes())
        .containsExactly(
            "line 17: EXPOSE has no effect: every port of a sandbox can be reached through Isola",
            "line 18: LABEL has no effect: images have no labels");
  }

  @Test
  void argumentsAreVariablesOfCommandsButNotOfTheImage() {
    Dockerfile file =
        Dockerfile.read(
            """
            ARG BASE=small
            FROM $BASE
            ARG BASE
            ARG MODE=slow
            ARG NONE
            RUN build $MODE
            ENV MODE=${MODE}er
            RUN build ${NONE:-x}
            """,
            Map.of("MODE", "fast", "OTHER", "1", "http_proxy", "http://proxy:1"),
            image -> Optional.empty());
    assertThat(steps(file))
        .containsExactly(
            "RUN export BASE='small' MODE='fast' http_proxy='http://proxy:1'; build $MODE",
            "ENV MODE=faster",
            "RUN export BASE='small' http_proxy='http://proxy:1'; build ${NONE:-x}");
    assertThat(file.notes()).containsExactly("no ARG declares OTHER");
  }

  @Test
  void substitutesVariables() {
    assertThat(
            steps(
                read(
                    "FROM small\nENV A=1\nENV PATH=/x:$PATH B=${A}2 C=${N:-d} D=${A:+yes}"
                        + " E=\\$A F=\"$A\\\"\" G=$ H=${N}")))
        .containsExactly(
            "ENV A=1",
            "ENV B=12 C=d D=yes E=$A F=1\" G=$ H="
                + " PATH=/x:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  }

  @Test
  void variablesOfTheBaseAreKnown() {
    Dockerfile file =
        Dockerfile.read(
            """
            FROM java:25
            ARG JAVA_HOME=/shadowed
            RUN javac -version
            ENV PATH=/x:$PATH TOOLS=${JAVA_HOME}/bin
            ENV PATH=/y:$PATH
            WORKDIR $TOOLS
            """,
            Map.of(),
            image ->
                Optional.of(Map.of("PATH", "/opt/java/bin:/bin", "JAVA_HOME", "/opt/java"))
                    .filter(any -> image.equals("java:25")));
    assertThat(steps(file))
        .containsExactly(
            "RUN javac -version",
            "ENV PATH=/x:/opt/java/bin:/bin TOOLS=/opt/java/bin",
            "ENV PATH=/y:/x:/opt/java/bin:/bin",
            "WORKDIR /opt/java/bin");
    assertThat(file.notes()).isEmpty();
  }

  @Test
  void pathOfAnUnknownBaseIsThatOfDebianWithANote() {
    Dockerfile file = read("FROM far:1\nENV A=$HOME\nENV B=${PATH}:/b\nENV PATH=$PATH:/c\n");
    assertThat(steps(file))
        .contains("ENV B=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/b");
    assertThat(file.notes())
        .containsExactly(
            "line 3: $PATH is that of Debian, because there is no image far:1 yet; if it has"
                + " another, pull the image first (isola image pull)");
    assertThat(read("FROM far:1\nENV PATH=/a\nENV PATH=$PATH:/b\n").notes()).isEmpty();
  }

  @Test
  void imagesAreNotConsultedWithoutAVariable() {
    Dockerfile file =
        Dockerfile.read(
            "FROM small\nENV A=1\nRUN echo $A\nCOPY a /b\n",
            Map.of(),
            image -> {
              throw new AssertionError(image);
            });
    assertThat(file.notes()).isEmpty();
  }

  @Test
  void commandAndEntrypointAreTheStartCommand() {
    assertThat(read("FROM a\nCMD python3 app.py").recipe())
        .containsEntry("start", "python3 app.py");
    assertThat(read("FROM a\nCMD [\"x\"]\nCMD [\"serve\", \"-p\", \"1\"]").recipe())
        .containsEntry("start", "exec 'serve' '-p' '1'");
    assertThat(read("FROM a\nENTRYPOINT [\"serve\"]\nCMD [\"-p\"]").recipe())
        .containsEntry("start", "exec 'serve' '-p'");
    assertThat(read("FROM a\nENTRYPOINT serve\nCMD [\"-p\"]").recipe())
        .containsEntry("start", "serve");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "RUN make | 1 | RUN comes before FROM",
        "FROM a;FROM b | 2 | second FROM",
        "FROM scratch | 1 | scratch",
        "FROM --platform=x a | 1 | --platform=x",
        "FROM a b c | 1 | names no image",
        "FROM a;RUN <<EOF | 2 | here-documents",
        "FROM a;RUN cat <<-'EOF' > x | 2 | here-documents",
        "FROM a;RUN --mount=type=cache make | 2 | --mount=type=cache",
        "FROM a;RUN | 2 | no command",
        "FROM a;COPY --from=build /x /y | 2 | --from",
        "FROM a;COPY x | 2 | source and a destination",
        "FROM a;COPY x y z | 2 | end the destination with /",
        "FROM a;COPY ../secret / | 2 | '..'",
        "FROM a;COPY x/../../y / | 2 | '..'",
        "FROM a;ADD https://host/x / | 2 | URL",
        "FROM a;ADD files.tar.gz / | 2 | RUN tar",
        "FROM a;ENV A=${B:?no} | 2 | substitution",
        "FROM a;ENV A='open | 2 | quote",
        "FROM a;ENV A=1 B | 2 | 'B' has no value",
        "FROM a;ENV A-B=1 | 2 | invalid name",
        "FROM a;USER not!a!user | 2 | must be a user",
        "FROM a;WORKDIR | 2 | no value",
        "FROM a;ARG 1=2 | 2 | not the name of a variable",
        "FROM a;;# comment;HEALTHCHECK CMD true | 4 | HEALTHCHECK is not supported",
        "FROM a;VOLUME /x | 2 | isola create --mount",
        "FROM a;SHELL [\"x\"] | 2 | SHELL is not supported",
        "FROM a;RUM make | 2 | RUM is not supported",
        "# escape=`;FROM a | 1 | escape character",
        "# nothing | 1 | FROM is missing",
      })
  void whatIsNotSupportedIsAnErrorWithItsLine(String file, int line, String problem) {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> read(file.replace(';', '\n')))
        .satisfies(
            e -> {
              assertThat(e.fault().problem() + "; " + e.fault().remedy())
                  .startsWith("Dockerfile, line " + line + ": ")
                  .contains(problem);
              assertThat(e.fault().remedy()).isNotBlank();
              assertThat(e.context()).containsEntry("line", Integer.toString(line));
            });
  }

  @Test
  void hostileFilesAreBounded() {
    StringBuilder doubling = new StringBuilder("FROM a\nENV A=xxxxxxxxxx\n");
    doubling.append("ENV A=$A$A\n".repeat(60));
    refused(doubling.toString(), "longer than 32768 characters");
    refused("FROM a\nENV A=" + "x".repeat(1000) + "\nENV " + "B=$A ".repeat(1000), "expands to");
    refused("FROM a\n" + "RUN x\n".repeat(1001), "more than 1000 steps");
    refused("FROM a\n" + "EXPOSE 1\n".repeat(2001), "more than 2000 instructions");
    refused("FROM a\nRUN " + "x".repeat(70_000), "longer than 65536");
    StringBuilder arguments = new StringBuilder("FROM a\n");
    for (int i = 0; i < 100; i++) {
      arguments.append("ARG A").append(i).append('=').append("x".repeat(1000)).append('\n');
    }
    refused(arguments.toString(), "values of ARG are too long");
    Recipe deep = RecipeDocument.check(read("FROM a\nRUN x" + " \\\n y".repeat(5000)).recipe());
    assertThat(deep.steps()).hasSize(1);
  }

  private static void refused(String file, String problem) {
    assertThatExceptionOfType(InvalidRequest.class)
        .isThrownBy(() -> read(file))
        .satisfies(e -> assertThat(e.fault().problem()).contains(problem));
  }
}
