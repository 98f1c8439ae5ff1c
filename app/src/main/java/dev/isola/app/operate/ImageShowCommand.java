package dev.isola.app.operate;

import dev.isola.app.cli.Action;
import dev.isola.app.cli.Console;
import dev.isola.app.cli.ExitCodes;
import dev.isola.app.cli.Wiring;
import dev.isola.host.image.Image;
import dev.isola.host.image.ImageStore;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code isola image show}. */
@Command(name = "show", description = "Tell all that is known about an image.")
final class ImageShowCommand implements Action {
  private final Wiring wiring;

  @Parameters(paramLabel = "NAME", description = "The image.")
  private String name = "";

  ImageShowCommand(Wiring wiring) {
    this.wiring = wiring;
  }

  @Override
  public int run() {
    Console console = wiring.console();
    Image image = new ImageStore(wiring.dataFolder().path()).need(name);
    if (console.json()) {
      console.print(Map.of("image", ImageReport.json(image)));
    } else {
      console.print(ImageReport.text(image));
    }
    return ExitCodes.OK;
  }
}
