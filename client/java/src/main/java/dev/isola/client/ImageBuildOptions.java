package dev.isola.client;

/**
 * Options of an image build.
 *
 * @param provider that runs the steps; if empty, the server chooses
 * @param network mode of the steps: none, bridge or host; if empty, none
 * @param replace whether to replace an existing image of that name
 */
public record ImageBuildOptions(String provider, String network, boolean replace) {
  /** No network, a provider that the server chooses, and no replacement. */
  public static final ImageBuildOptions DEFAULT = new ImageBuildOptions("", "", false);

  public ImageBuildOptions withProvider(String name) {
    return new ImageBuildOptions(name, network, replace);
  }

  public ImageBuildOptions withNetwork(String mode) {
    return new ImageBuildOptions(provider, mode, replace);
  }

  public ImageBuildOptions replacing() {
    return new ImageBuildOptions(provider, network, true);
  }
}
