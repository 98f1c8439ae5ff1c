package dev.isola.app.image;

import dev.isola.app.cli.CommandContext;
import dev.isola.app.remote.RemoteFault;
import dev.isola.app.remote.ServerOptions;
import dev.isola.client.Images;
import dev.isola.client.Isola;
import dev.isola.client.IsolaOptions;
import dev.isola.client.error.IsolaException;
import dev.isola.host.image.ImageStore;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Options that select the images of a server, if one is configured, or those in the data folder of
 * this machine.
 */
final class ImagePlace {
  @Mixin private final ServerOptions server = new ServerOptions();

  @Option(
      names = "--local",
      description = "Use the images of this machine, even if a server is configured.")
  private boolean local;

  /** What a command does with the images of a server. */
  interface Remote {
    int run(Images images);
  }

  /** What a command does with the images of this machine. */
  interface Local {
    int run(ImageStore images);
  }

  /** Runs the variant of a command for the selected images. */
  int run(CommandContext context, Local ofMachine, Remote ofServer) {
    Optional<ServerOptions.Server> chosen = server(context);
    if (chosen.isEmpty()) {
      return ofMachine.run(new ImageStore(context.dataFolder().path()));
    }
    if (context.console().verbose()) {
      context.console().printErr("server " + chosen.get().url());
    }
    try (Isola isola = Isola.connect(IsolaOptions.of(chosen.get().url(), chosen.get().key()))) {
      return ofServer.run(isola.images());
    } catch (IsolaException e) {
      throw RemoteFault.of(e);
    }
  }

  /** Returns the server; empty for the images of this machine. */
  Optional<ServerOptions.Server> server(CommandContext context) {
    return local ? Optional.empty() : server.resolveIfConfigured(context.environment().variables());
  }
}
