package dev.isola.app.image;

import dev.isola.app.cli.CliCommand;
import dev.isola.app.cli.CommandContext;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.host.image.ImageCheck;
import dev.isola.host.image.ImageStore;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code isola image check}. */
@Command(
    name = "check",
    description = "Verify every file of an image against the checksums recorded when it was added.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:the image is unchanged", "1:the image has changed"})
final class ImageCheckCommand implements CliCommand {
  private static final int CHANGED = 1;

  private final CommandContext context;

  @Parameters(paramLabel = "NAME", description = "The image.")
  private String name = "";

  ImageCheckCommand(CommandContext context) {
    this.context = context;
  }

  @Override
  public int run() {
    Console console = context.console();
    ImageCheck check = new ImageStore(context.dataFolder().path()).check(name);
    if (console.json()) {
      console.print(json(check));
    } else {
      console.print(text(check));
    }
    return check.passed() ? ExitCodes.OK : CHANGED;
  }

  private static String text(ImageCheck check) {
    if (check.passed()) {
      return check.image().name() + ": unchanged, " + check.digest() + "\n";
    }
    StringBuilder text = new StringBuilder();
    for (ImageCheck.Difference difference : check.differences()) {
      text.append('/').append(difference.path()).append(": ").append(difference.what());
      text.append('\n');
    }
    long omitted = check.different() - check.differences().size();
    if (omitted > 0) {
      text.append("and ").append(omitted).append(" more\n");
    }
    return text.append(check.image().name())
        .append(": ")
        .append(check.different())
        .append(check.different() == 1 ? " path has changed" : " paths have changed")
        .append("; import the image again\n")
        .toString();
  }

  private static Map<String, ?> json(ImageCheck check) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("image", check.image().name());
    json.put("good", check.passed());
    json.put("wanted", check.image().digest());
    json.put("digest", check.digest());
    json.put("different", check.different());
    json.put(
        "differences",
        check.differences().stream()
            .map(
                difference -> {
                  Map<String, Object> entry = new LinkedHashMap<>();
                  entry.put("path", "/" + difference.path());
                  entry.put("what", difference.what());
                  return entry;
                })
            .toList());
    return json;
  }
}
