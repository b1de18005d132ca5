# The talk of a client in Perl with the test: the settings as an argument, then a line of JSON for each step.
package Talk;
use strict;
use warnings;
use Exporter 'import';
use JSON::MaybeXS;
our @EXPORT = qw(setting talk);

my $json = JSON::MaybeXS->new(utf8 => 1, allow_nonref => 1);

sub setting { return $json->decode($ARGV[0]) }

sub talk {
    my ($url, %steps) = @_;
    local $| = 1;
    print $json->encode({ url => "$url", steps => [keys %steps] }), "\n";
    while (my $line = <STDIN>) {
        my $step   = $json->decode($line);
        my $result = eval { $steps{ $step->{name} }->($step->{argument}) };
        print $json->encode($@ ? { error => "$@" } : { result => $result }), "\n";
    }
    return;
}

1;
