# A formula for a tap of one's own; `formula.sh` writes the address and the hash of a release into it. The packages are
# those of constraints.txt, as wheels: as resources, some of them would need compilers of Rust and C++ for half an hour.
class VaultAgent < Formula
  desc "Personal agent that lives in a vault of Markdown notes"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "git"
  depends_on "python@3.13"

  def install
    system "python3.13", "-m", "venv", libexec
    system libexec/"bin/python", "-m", "pip", "install", "--constraint", "configs/packaging/constraints.txt", "."
    bin.install_symlink libexec/"bin/vault-agent"
  end

  # The vault is the one that `vault-agent init` has made and VAULT_AGENT_VAULT names; see `vault-agent daemon --help`.
  service do
    run [opt_bin/"vault-agent", "daemon", File.expand_path("~/notes")]
    keep_alive successful_exit: false
    throttle_interval 30
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/vault-agent --version")
    ENV["VAULT_AGENT_HOME"] = testpath/"home"
    system bin/"vault-agent", "init", "--yes", testpath/"notes"
    system bin/"vault-agent", "--vault", testpath/"notes", "remember", "The spare key is with Ana"
    assert_match "spare key", shell_output("#{bin}/vault-agent --vault #{testpath}/notes search 'spare key'")
  end
end
