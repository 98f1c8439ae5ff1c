package dev.isola.app.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.app.CommandLineFixture;
import dev.isola.app.CommandLineFixture.CommandResult;
import dev.isola.app.cli.CliEnvironment;
import dev.isola.host.image.ImageStore;
import dev.isola.spi.SandboxId;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code isola image}. */
class ImageCommandTest {
  @TempDir Path folder;
  private Path tree = Path.of("");

  @BeforeEach
  void createTree() throws IOException {
    tree = folder.resolve("tree");
    Files.createDirectories(tree.resolve("etc"));
    Files.writeString(tree.resolve("etc/hostname"), "x".repeat(2500));
  }

  private CommandLineFixture isola() {
    CommandLineFixture fixture = new CommandLineFixture(folder.resolve("data"));
    fixture.env.put("XDG_CONFIG_HOME", folder.resolve("config").toString()); // no server
    return fixture;
  }

  private CommandResult imported(String name) {
    return isola().call("image", "import", name, tree.toString());
  }

  @Test
  void importsListsShowsChecksAndRemovesAnImage() {
    CommandResult called = imported("mine");
    assertThat(called.code()).isZero();
    assertThat(called.out()).matches("mine: 12 files, 2 kB, sha256:[0-9a-f]{64}\n");
    assertThat(isola().call("image", "list").out())
        .startsWith("NAME  SIZE  FILES  ARCHITECTURE  CREATED")
        .contains("\nmine  2 kB  12     unknown       ")
        .endsWith(tree + "\n");
    assertThat(isola().call("image", "show", "mine").out())
        .contains("source        " + tree, "digest        sha256:", "user          -");
    CommandResult check = isola().call("image", "check", "mine");
    assertThat(check.code()).isZero();
    assertThat(check.out()).startsWith("mine: unchanged, sha256:");
    CommandResult removed = isola().call("image", "remove", "mine");
    assertThat(removed.code()).isZero();
    assertThat(removed.out() + removed.err()).isEmpty();
    assertThat(isola().call("image", "list").out())
        .isEqualTo("no images; create one with isola image build base\n");
  }

  @Test
  void listFitsTheTerminal() throws IOException {
    String longName = "registry.example.org/organization/a-tool-with-a-long-name:v1.2.3";
    Path deep = Files.createDirectories(folder.resolve("d".repeat(60)).resolve("e".repeat(60)));
    Files.writeString(deep.resolve("file"), "x");
    assertThat(isola().call("image", "import", longName, deep.toString()).code()).isZero();
    CommandLineFixture terminal = isola();
    terminal.interactive = new CliEnvironment.TtyStatus(false, true, false);
    terminal.env.put("COLUMNS", "80");
    assertThat(terminal.call("image", "ls").out().lines())
        .hasSize(2)
        .allMatch(line -> line.length() <= 80)
        .last()
        .asString()
        .contains("registry.example.org/", "…");
    assertThat(terminal.call("image", "ls", "--wide").out()).contains(longName, deep.toString());
    assertThat(isola().call("image", "ls").out()).contains(longName, deep.toString());
  }

  @Test
  void printsJson() throws IOException {
    assertThat(isola().call("--json", "image", "import", "mine", tree.toString()).out())
        .startsWith("{\"image\":{\"name\":\"mine\",\"createdAt\":\"20")
        .contains(
            "\"size\":2500,\"files\":12,\"architecture\":\"unknown\",\"user\":null,"
                + "\"workdir\":null,\"env\":{},\"ownersKept\":")
        .hasLineCount(1);
    assertThat(isola().call("image", "list", "--json").out())
        .startsWith("{\"images\":[{\"name\":\"mine\"");
    assertThat(isola().call("image", "show", "mine", "--json").out())
        .startsWith("{\"image\":{\"name\":\"mine\"");
    assertThat(isola().call("image", "check", "mine", "--json").out())
        .startsWith("{\"image\":\"mine\",\"good\":true,\"wanted\":\"sha256:");
    Files.writeString(folder.resolve("data/images/mine/rootfs/new"), "x");
    CommandResult check = isola().call("image", "check", "mine", "--json");
    assertThat(check.code()).isEqualTo(1);
    assertThat(check.out())
        .contains("\"good\":false", "\"differences\":[{\"path\":\"/new\",\"what\":\"added\"}]");
    assertThat(isola().call("image", "remove", "mine", "--json").out())
        .isEqualTo("{\"removed\":[\"mine\"]}\n");
    assertThat(isola().call("image", "show", "mine", "--json").out())
        .startsWith("{\"error\":{\"code\":\"IMAGE_NOT_FOUND\",\"category\":\"CALLER\"");
  }

  @Test
  void checkListsChangedFiles() throws IOException {
    imported("mine");
    Files.writeString(folder.resolve("data/images/mine/rootfs/etc/hostname"), "y");
    CommandResult check = isola().call("image", "check", "mine");
    assertThat(check.code()).isEqualTo(1);
    assertThat(check.out())
        .startsWith("/etc/hostname: size 1, was 2500; content sha256:")
        .endsWith("mine: 1 path has changed; import the image again\n");
  }

  @Test
  void importsAnArchiveFromStdin() {
    CommandLineFixture isola = isola();
    isola.in = new ByteArrayInputStream(new byte[1024]);
    CommandResult empty = isola.call("image", "import", "x", "-");
    assertThat(empty.code()).isEqualTo(125);
    assertThat(empty.err())
        .isEqualTo(
            "isola: there are no files in standard input; use a source that contains a root file"
                + " system\n");
  }

  @Test
  void errorsAreOneLine() {
    imported("mine");
    line(
        125,
        "there is no /no/such on this host; use a tar archive or a folder",
        "image",
        "import",
        "x",
        "/no/such");
    line(
        125,
        "there is already an image mine; use another name, remove the image first, or use"
            + " --replace",
        "image",
        "import",
        "mine",
        tree.toString());
    line(
        125,
        "invalid image name 'host'; the name is reserved for the root of the host; use another"
            + " name",
        "image",
        "import",
        "host",
        tree.toString());
    line(
        125,
        "there is no image 'mime'; did you mean mine? isola image ls shows all",
        "image",
        "remove",
        "mine",
        "mime");
    line(
        125,
        "the image has more than 3 files; raise --max-size or --max-files if the image is trusted",
        "image",
        "import",
        "x",
        tree + "/..",
        "--max-files",
        "3");
    line(
        2,
        "--max-size 'much' is not a size; use a value such as 500M or 20G, or a number of bytes",
        "image",
        "import",
        "x",
        tree.toString(),
        "--max-size",
        "much");
    line(
        2,
        "what to build x from is missing; add -f with a recipe or a Dockerfile, or --from"
            + " debian:bookworm; ready images are base, full, java, node, python",
        "image",
        "build",
        "x");
    line(
        125,
        "'bookworm' names no suite; write it like debian:bookworm",
        "image",
        "build",
        "x",
        "--from",
        "bookworm");
    line(
        2,
        "unknown command 'image lst'; did you mean ls or list? See isola image --help",
        "image",
        "lst");
    assertThat(isola().call("image", "show", "mine").code()).isZero();
  }

  private void line(int code, String text, String... words) {
    CommandResult called = isola().call(words);
    assertThat(called.err()).isEqualTo("isola: " + text + "\n");
    assertThat(called.code()).isEqualTo(code);
    assertThat(called.out()).isEmpty();
  }

  @Test
  void replaceAndUseAreChecked() throws IOException {
    imported("mine");
    CommandResult again = isola().call("image", "import", "--replace", "mine", tree.toString());
    assertThat(again.code()).isZero();
    Path sandbox = Files.createDirectory(folder.resolve("sandbox"));
    new ImageStore(folder.resolve("data")).acquire("mine", new SandboxId("abc"), sandbox);
    line(
        125,
        "the image mine is in use by abc; destroy that sandbox first",
        "image",
        "remove",
        "mine");
  }

  @Test
  void helpListsTheCommands() {
    String help = isola().call("image").out();
    assertThat(help).startsWith("Usage: isola image ").contains("import", "pull", "build", "check");
    assertThat(isola().call("image", "--help").out()).isEqualTo(help);
    assertThat(isola().call("image", "build", "--help").out()).contains("debian:bookworm");
  }
}
