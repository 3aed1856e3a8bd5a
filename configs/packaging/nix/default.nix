# vault-agent with Nix: `nix-build configs/packaging/nix`, or `callPackage` it from a configuration of one's own.
#
# Some of its packages are not in nixpkgs, and the others are newer or older there than those that were tested. So the
# program lives in an environment of its own, which is made with the packages of constraints.txt when it is first
# started, and again for another version: below XDG_DATA_HOME, where removing the folder removes all of it.
{ pkgs ? import <nixpkgs> { }
, python ? pkgs.python313
}:

let
  source = pkgs.lib.cleanSource ../../..;
  libraries = pkgs.lib.makeLibraryPath [ pkgs.stdenv.cc.cc.lib pkgs.zlib ];
in
pkgs.writeShellApplication {
  name = "vault-agent";
  runtimeInputs = [ python pkgs.coreutils pkgs.gnused pkgs.git pkgs.openssh ]; # macOS has another mv and sed
  text = ''
    place="''${XDG_DATA_HOME:-$HOME/.local/share}/vault-agent-nix/${builtins.substring 11 32 "${source}"}"
    if [ ! -x "$place/bin/vault-agent" ]; then
      echo "vault-agent: its packages are fetched once, into $place" >&2
      new="$place.$$"
      mkdir -p "$(dirname "$place")"
      python -m venv "$new"
      copy="$new/source"
      cp -r ${source} "$copy"
      chmod -R u+w "$copy"
      "$new/bin/python" -m pip install --quiet --disable-pip-version-check \
        --constraint "$copy/configs/packaging/constraints.txt" "$copy" >&2
      rm -rf "$copy"
      mv -T "$new" "$place"
      sed -i "1s|.*|#!$place/bin/python|" "$place/bin/vault-agent"
    fi
    export LD_LIBRARY_PATH="${libraries}''${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    exec "$place/bin/vault-agent" "$@"
  '';
  meta = {
    description = "Personal agent that lives in a vault of Markdown notes";
    license = pkgs.lib.licenses.mit;
    platforms = pkgs.lib.platforms.unix;
    mainProgram = "vault-agent";
  };
}
